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
