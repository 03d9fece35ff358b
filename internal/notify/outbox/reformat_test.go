package outbox

import (
	"context"
	"testing"
	"time"

	"outrigger/internal/notify"
)

// Another node saves a rule whose URL stays: as soon as that is known here, what
// was read from the queue before goes out in the new format too.
func TestANewFormatHoldsForWhatIsInMemory(t *testing.T) {
	run(t, func(w *world) {
		w.Message = func(_ context.Context, d *notify.Delivery) []byte {
			return []byte("/" + string(d.Format) + d.Event.URL)
		}
		w.addMany(0, 1, 6)
		w.expect(t, 0, "c0/teams/1 at 0s", "c0/teams/2 at 0s", "c0/teams/3 at 0s", "c0/teams/4 at 0s")
		w.queue.reformat(notify.Slack)
		// What was read before had its turn at 1s, and is read again instead.
		w.expect(t, time.Minute, "c0/slack/5 at 2s", "c0/slack/6 at 3s")
	})
}
