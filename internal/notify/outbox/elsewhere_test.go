package outbox

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

// Another node cancels what this one has read already, and that waits for its turn:
// it is not sent, and what follows it takes the next turn.
func TestWhatEndsElsewhereIsNotSent(t *testing.T) {
	runPolled(t, func(w *world) {
		w.Alone = false
		w.addMany(0, 1, 8)
		w.expect(t, 0, "c0/1 at 0s", "c0/2 at 0s", "c0/3 at 0s", "c0/4 at 0s")
		w.queue.endElsewhere(6, 7)
		w.expect(t, time.Minute, "c0/5 at 1s", "c0/8 at 3s")
		if got := w.queue.state(6); got != string(notify.Cancelled) {
			t.Errorf("it is %s", got)
		}
	})
}

// Another node's administrator has a message tried that was set aside here.
func TestWhatIsTriedElsewhereGoesOut(t *testing.T) {
	runPolled(t, func(w *world) {
		w.Alone = false
		w.refuses(500, "odd")
		w.add(0, "odd", "good")
		w.expect(t, 10*time.Minute, "c0/odd at 0s", "c0/odd at 5s", "c0/good at 5s", "c0/odd at 35s", "c0/odd at 2m35s")
		w.answers(202, "")
		w.queue.dueElsewhere(1)
		w.expect(t, 2*time.Second, "c0/odd at 10m1s")
	})
}
