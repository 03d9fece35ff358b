package store

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// counts of rows by table.
func counts(t *testing.T, s *Store) map[string]int {
	t.Helper()
	out := make(map[string]int)
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		for _, table := range []string{"notify_events", "notify_deliveries", "notify_delivery_rules", "notify_attempts"} {
			var n int
			if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
				return err
			}
			out[table] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hold acquires the lease that results are fenced with.
func hold(t *testing.T, s *Store) (name string, fence int64) {
	t.Helper()
	leases := db.NewLeases(s.db, "test", s.log)
	if err := leases.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leases.Stop)
	l, err := leases.Acquire(t.Context(), "outbox/00")
	if err != nil || l == nil {
		t.Fatalf("lease %v, %v", l, err)
	}
	return l.Name(), l.Fence()
}

func TestRetentionDropsWhatEndedAndKeepsWhatWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("ends", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, webhook("waits", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, &notify.Receipt{Connection: "dc", Key: "x", RequestID: "nobody", ReceivedAt: time.Now(), Outcome: notify.UnknownKey, Digest: []byte("x")})
		first := waiting(t, s)[1]
		err := s.SaveResult(t.Context(), &notify.Result{
			Deliveries: []*notify.Delivery{first}, State: notify.Delivered, Attempt: &work.Attempt{At: time.Now(), Status: 202}, Lease: name, Fence: fence,
		})
		if err != nil {
			t.Fatal(err)
		}
		sweep := func(before time.Time) {
			t.Helper()
			err := s.db.WriteBulk(t.Context(), func(tx *db.Tx) error {
				if _, err := DeleteDeliveries(t.Context(), tx, before, 100); err != nil {
					return err
				}
				_, err := DeleteEvents(t.Context(), tx, before, 100)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		sweep(time.Now().Add(-time.Hour))
		if got := counts(t, s); got["notify_events"] != 3 || got["notify_deliveries"] != 2 {
			t.Errorf("too early: %v", got)
		}
		sweep(time.Now().Add(time.Hour))
		got := counts(t, s)
		for table, want := range map[string]int{"notify_events": 1, "notify_deliveries": 1, "notify_delivery_rules": 0, "notify_attempts": 0} {
			if got[table] != want {
				t.Errorf("%s: %d rows, want %d", table, got[table], want)
			}
		}
	})
}

func TestResultsAreFenced(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		d := waiting(t, s)[0]
		if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: []*notify.Delivery{d}, State: notify.Delivered, Lease: name, Fence: fence + 1}); err == nil {
			t.Error("a result under another fence was kept")
		}
		if n := len(waiting(t, s)); n != 1 {
			t.Errorf("%d waiting, want 1", n)
		}
	})
}
