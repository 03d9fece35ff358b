package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

var allShards = func() (all []int) {
	for n := range notify.Shards {
		all = append(all, n)
	}
	return all
}()

// acceptMany takes n pushes and gives the ids of their deliveries, oldest
// first.
func acceptMany(t *testing.T, s *Store, n int) (ids []int64) {
	t.Helper()
	for i := range n {
		accept(t, s, webhook(fmt.Sprintf("many%d", i), *pushedTo("ATL", "canoe", "main", "ada")))
	}
	for _, d := range waiting(t, s) {
		ids = append([]int64{d.ID}, ids...)
	}
	return ids
}

// age makes the first n deliveries older than they are.
func age(t *testing.T, s *Store, ids []int64, by time.Duration) {
	t.Helper()
	for _, id := range ids {
		damage(t, s, `UPDATE notify_deliveries SET created_at = created_at - $1 WHERE id = $2`, by.Microseconds(), id)
	}
}

func states(t *testing.T, s *Store, ids []int64) string {
	t.Helper()
	out := ""
	for _, id := range ids {
		d, _, err := s.Delivery(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		out += string(d.State[0])
	}
	return out
}

// What waits is bounded by age and by number, of whatever state its channel is.
func TestWhatWaitsTooLongExpires(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 6)
		age(t, s, ids[:2], 8*24*time.Hour)
		damage(t, s, `UPDATE notify_channels SET state = 'broken' WHERE id = $1`, one.ChannelID)
		damage(t, s, `UPDATE notify_deliveries SET due_at = 5 WHERE id = $1`, ids[1]) // set aside
		told := 0
		s.OnChange(func([]*notify.Delivery) {}, func(int64) { told++ })
		n, err := s.Expire(t.Context(), allShards, notify.Limits{MaxAge: 7 * 24 * time.Hour, MaxWaiting: 100})
		if err != nil || n != 2 || states(t, s, ids) != "ffwwww" || told != 1 {
			t.Errorf("by age: %d %s, told %d times, %v", n, states(t, s, ids), told, err)
		}
		n, err = s.Expire(t.Context(), []int{notify.ShardOf(one.ChannelID)}, notify.Limits{MaxAge: 7 * 24 * time.Hour, MaxWaiting: 3})
		if err != nil || n != 1 || states(t, s, ids) != "fffwww" {
			t.Errorf("by number: %d %s, %v", n, states(t, s, ids), err)
		}
		if n, err := s.Expire(t.Context(), []int{(notify.ShardOf(one.ChannelID) + 1) % notify.Shards}, notify.Limits{MaxWaiting: 1, MaxAge: 1}); n != 0 || err != nil {
			t.Errorf("on another node's shards: %d, %v", n, err)
		}
		for i, reason := range []string{expiredByAge, expiredByAge, expiredByCount} {
			if d, _, _ := s.Delivery(t.Context(), ids[i]); d.Reason != reason || !d.DueAt.IsZero() {
				t.Errorf("delivery %d: %q, due %v", i, d.Reason, d.DueAt)
			}
		}
	})
}

// A digest is bound once, and not of what has ended meanwhile.
func TestGather(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		heads, err := s.NextDeliveries(t.Context(), one.ChannelID, 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.BindDigest(t.Context(), name, fence+1, heads); err == nil {
			t.Error("gathered under another fence")
		}
		if err := s.BindDigest(t.Context(), name, fence, heads[:2]); err != nil {
			t.Fatal(err)
		}
		heads, _ = s.NextDeliveries(t.Context(), one.ChannelID, 10)
		if heads[0].Batch != ids[0] || heads[1].Batch != ids[0] || heads[2].Batch != 0 {
			t.Errorf("batches %d %d %d, want %d %[4]d 0", heads[0].Batch, heads[1].Batch, heads[2].Batch, ids[0])
		}
		if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := s.end(t.Context(), tx, ids[1:2], notify.Cancelled, "x")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.BindDigest(t.Context(), name, fence, heads); err == nil {
			t.Error("gathered one that was cancelled")
		}
		if n, err := s.CountWaiting(t.Context(), one.ChannelID, 10); n != 2 || err != nil {
			t.Errorf("%d wait, %v", n, err)
		}
	})
}
