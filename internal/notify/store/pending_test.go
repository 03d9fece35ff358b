package store

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

// What was set aside is for later, until an administrator, of whichever node, has it
// tried: then the node that has the channel finds something to send.
func TestWhatWasSetAsideIsPendingOnceItIsDue(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 1)
		damage(t, s, `UPDATE notify_deliveries SET due_at = $1, beside = 2`, time.Now().Add(time.Hour).UnixMicro())
		expect := func(queued bool) {
			t.Helper()
			found, err := s.Pending(t.Context(), []int{notify.ShardOf(one.ChannelID)})
			if err != nil || len(found) != 1 || found[0].Queued != queued {
				t.Errorf("pending is %+v, %v; want something to send: %v", found, err, queued)
			}
		}
		expect(false)
		if err := newStore(t, s.db).TryNow(t.Context(), ada, ids[0]); err != nil {
			t.Fatal(err)
		}
		expect(true)
	})
}
