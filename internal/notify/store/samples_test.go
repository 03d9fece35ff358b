package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// What ended between two samples is in the second one, once; a sample that
// cannot be kept loses nothing.
func TestSamples(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		s.ended(notify.Delivered, 3, 0)
		s.ended(notify.Failed, 1, 0)
		s.ended(expired, 1, 0)
		s.ended(notify.Cancelled, 7, 0)
		sample := func(node string) {
			t.Helper()
			if err := s.Sample(ctx, node); err != nil {
				t.Fatal(err)
			}
		}
		sample("a")
		sample("b") // as another node, which delivered nothing
		exec := func(q string) {
			t.Helper()
			if err := s.db.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec(ctx, q); return err }); err != nil {
				t.Fatal(err)
			}
		}
		s.ended(notify.Delivered, 2, 0)
		exec(`ALTER TABLE notify_samples RENAME TO away`)
		if err := s.Sample(ctx, "a"); err == nil {
			t.Fatal("a sample was kept without a table")
		}
		exec(`ALTER TABLE away RENAME TO notify_samples`)
		s.ended(notify.Delivered, 5, 0)
		sample("a")

		since := time.Now().Add(-time.Hour).Truncate(time.Second)
		list, err := s.History(ctx, since, 24*time.Hour)
		want := []notify.Sample{{At: since, Delivered: 10, Failed: 2}}
		if diff := cmp.Diff(want, list); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if list, err = s.History(ctx, time.Now().Add(time.Hour), time.Hour); err != nil || list != nil {
			t.Error("before the first:", list, err)
		}
		var deleted int64
		if err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			deleted, err = DeleteSamples(ctx, tx, time.Now().Add(time.Hour), 2)
			return err
		}); err != nil || deleted != 2 {
			t.Error(deleted, err)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_samples`); n != 1 {
			t.Errorf("%d samples are left", n)
		}
	})
}

// The overview counts what every node delivered in its time, in samples or since
// this node's last one.
func TestSummaryCountsWhatWasDelivered(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		other := New(s.db, s.box, s.log)
		for _, n := range []struct {
			store *Store
			node  string
			count int
		}{{s, "a", 3}, {other, "b", 20_000}} {
			n.store.ended(notify.Delivered, n.count, 0)
			n.store.ended(notify.Failed, 1, 0)
			if err := n.store.Sample(ctx, n.node); err != nil {
				t.Fatal(err)
			}
		}
		s.ended(notify.Delivered, 5, 0)
		for since, want := range map[time.Time]int{time.Now().Add(-time.Hour): 20_008, time.Now().Add(time.Hour): 5} {
			if sum, err := s.Summary(ctx, since); err != nil || sum.Delivered != want {
				t.Errorf("%d were delivered, want %d: %v", sum.Delivered, want, err)
			}
		}
	})
}
