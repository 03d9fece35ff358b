package store

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// bulkEnds end what waits on a channel: all of it, or all but the newest.
var bulkEnds = []struct {
	name string
	left int
	end  func(t *testing.T, s *Store, channel int64) error
}{
	{"left out", 0, func(t *testing.T, s *Store, channel int64) error {
		_, err := s.RetryChannel(t.Context(), ada, channel, notify.RetryNone)
		return err
	}},
	{"too many", 1, func(t *testing.T, s *Store, _ int64) error {
		_, err := s.Expire(t.Context(), allShards, notify.Limits{MaxAge: time.Hour, MaxWaiting: 1})
		return err
	}},
}

// More wait than are ended at once, and one of the first ends on another node
// meanwhile: the others are ended all the same, each is counted once, and none
// goes out.
func TestManyAreEndedWhileOneEnds(t *testing.T) {
	for _, c := range bulkEnds {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				one := save(t, s, someRule("one"), flowURL("a"))
				var events []notify.Event
				for range cancelSlice + 1 + c.left {
					events = append(events, *pushedTo("ATL", "canoe", "main", "ada"))
				}
				accept(t, s, webhook("many", events...))
				oldest := int64(count(t, s, `SELECT min(id) FROM notify_deliveries`))
				during(t, s, func(ctx context.Context, tx *db.Tx) error {
					_, err := s.end(ctx, tx, []int64{oldest}, notify.Failed, "x")
					return err
				}, func() error { return c.end(t, s, one.ChannelID) })
				if n := count(t, s, `SELECT count(*) FROM notify_deliveries WHERE finished_at = 0`); n != c.left {
					t.Errorf("%d still wait, want %d", n, c.left)
				}
				addUp(t, s, counters)
			})
		})
	}
}

// What waits on a channel is ended in the moment in which one of its messages
// moves to another: that one waits there.
func TestWhatMovesAwayIsNotEnded(t *testing.T) {
	for _, c := range bulkEnds {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				one := save(t, s, someRule("one"), flowURL("a"))
				ids := acceptMany(t, s, 3)
				two := save(t, s, someRule("two"), flowURL("b"))
				during(t, s, func(ctx context.Context, tx *db.Tx) error {
					return s.moveDeliveries(ctx, tx, []move{{ids[0], notify.Destination{ChannelID: two.ChannelID, Format: "teams"}}})
				}, func() error { return c.end(t, s, one.ChannelID) })
				if at, state := place(t, s, ids[0]); at != two.ChannelID || state != notify.Waiting {
					t.Errorf("what moved is %s on channel %d, want waiting on %d", state, at, two.ChannelID)
				}
			})
		})
	}
}
