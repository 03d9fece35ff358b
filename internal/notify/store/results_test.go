package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// A message moved while it was under way, and its result from the old channel is
// kept in one commit with that from the new one: what ended is counted once for
// each time that it came to wait, whichever of the two counts in the end.
func TestTwoResultsOfWhatMovedInOneCommit(t *testing.T) {
	const d, f, w = notify.Delivered, notify.Failed, notify.Waiting
	for _, c := range []struct {
		old, moved  notify.DeliveryState
		want        notify.DeliveryState
		matched     int
		newOneFirst bool
	}{
		{old: d, moved: d, want: d, matched: 2},
		{old: d, moved: d, want: d, matched: 2, newOneFirst: true},
		{old: d, moved: f, want: d, matched: 2},
		{old: d, moved: f, want: d, matched: 2, newOneFirst: true},
		{old: f, moved: d, want: d, matched: 1},
		{old: f, moved: d, want: d, matched: 1, newOneFirst: true},
		{old: f, moved: f, want: f, matched: 1},
		{old: d, moved: w, want: d, matched: 1},
		{old: w, moved: d, want: d, matched: 1},
	} {
		t.Run(fmt.Sprintf("%s, then %s, the new one first %t", c.old, c.moved, c.newOneFirst), func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				name, fence := hold(t, s)
				one := save(t, s, someRule("one"), flowURL("a"))
				acceptMany(t, s, 1)
				sent := waiting(t, s)
				save(t, s, one.Rule, flowURL("b"))
				sentAgain := waiting(t, s)
				items := []*notify.Result{{Deliveries: sent, State: c.old}, {Deliveries: sentAgain, State: c.moved}}
				for _, r := range items {
					r.Attempt, r.Lease, r.Fence = &work.Attempt{At: time.Now(), Status: 202}, name, fence
				}
				if c.newOneFirst {
					slices.Reverse(items)
				}
				if err := s.db.Write(t.Context(), func(tx *db.Tx) error { return s.writeResults(t.Context(), tx, items) }); err != nil {
					t.Fatal(err)
				}
				if _, state := place(t, s, sent[0].ID); state != c.want {
					t.Errorf("it is %s, want %s", state, c.want)
				}
				if got := counted(t, counters); got["matched"] != c.matched {
					t.Errorf("counted %v", got)
				}
				addUp(t, s, counters)
			})
		})
	}
}

// A message moved while it was under way and has arrived all the same: the channel
// that it went to, which may have it in memory, reads again what waits there.
func TestAResultOfTheOldChannelTellsTheNewOne(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		one := save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 1)
		sent := waiting(t, s)
		moved := save(t, s, one.Rule, flowURL("b"))
		var told []int64
		s.OnChange(func([]*notify.Delivery) {}, func(c int64) { told = append(told, c) })
		a := &work.Attempt{At: time.Now(), Status: 202}
		if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: sent, State: notify.Delivered, Attempt: a, Lease: name, Fence: fence}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []int64{moved.ChannelID}) {
			t.Errorf("told of %v, want channel %d", told, moved.ChannelID)
		}
	})
}
