package store

import (
	"slices"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// The members of a digest are those that share its number and its end: not what
// was cancelled before it went out, nor what is sent alone.
func TestDigestMembers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 4)
		heads, err := s.NextDeliveries(t.Context(), one.ChannelID, 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.BindDigest(t.Context(), name, fence, heads[:3]); err != nil {
			t.Fatal(err)
		}
		members := func(id int64, limit int) (out []int64) {
			t.Helper()
			d, _, err := s.Delivery(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.DigestMembers(t.Context(), d, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				out = append(out, d.ID)
			}
			return out
		}
		end := func(state notify.DeliveryState, ids ...int64) {
			t.Helper()
			if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := s.end(t.Context(), tx, ids, state, "x")
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got := members(ids[1], 50); !slices.Equal(got, ids[:3]) {
			t.Errorf("waiting: %d, want %d", got, ids[:3])
		}
		if got := members(ids[1], 2); !slices.Equal(got, ids[:2]) {
			t.Errorf("at most two: %d, want %d", got, ids[:2])
		}
		if got := members(ids[3], 50); got != nil {
			t.Errorf("one that is sent alone has %d", got)
		}
		end(notify.Cancelled, ids[1])
		end(notify.Failed, ids[0], ids[2])
		if got, want := members(ids[0], 50), []int64{ids[0], ids[2]}; !slices.Equal(got, want) {
			t.Errorf("ended: %d, want %d", got, want)
		}
		if got := members(ids[1], 50); !slices.Equal(got, ids[1:2]) {
			t.Errorf("cancelled before: %d, want %d", got, ids[1:2])
		}
	})
}
