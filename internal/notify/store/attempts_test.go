package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// A delivery keeps its first 10 and last 40 attempts, and says how many there were:
// also each member of a digest, and one that is delivered in the end.
func TestAttemptsKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 3)
		digest, alone := waiting(t, s)[:2], waiting(t, s)[2:]
		attempt := func(of []*notify.Delivery, n int, state notify.DeliveryState) {
			t.Helper()
			r := &notify.Result{Deliveries: of, State: state, Attempt: &work.Attempt{At: time.Unix(int64(n), 0), Status: 100 + n}, Lease: name, Fence: fence}
			if err := s.SaveResult(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			for _, d := range of {
				d.Attempts, d.Errors5xx = r.Counters(d)
			}
		}
		check := func(of []*notify.Delivery, total int) {
			t.Helper()
			for _, d := range of {
				d, attempts, err := s.Delivery(t.Context(), d.ID)
				if err != nil {
					t.Fatal(err)
				}
				var want, got []int
				for n := 1; n <= total; n++ {
					if n <= 10 || n > total-40 {
						want = append(want, n)
					}
				}
				for _, a := range attempts {
					got = append(got, a.Status-100)
				}
				if d.Attempts != total || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("after %d attempts it says %d and has %v, want %v", total, d.Attempts, got, want)
				}
			}
		}
		for n := 1; n <= 60; n++ {
			attempt(digest, n, notify.Waiting)
			if n == 1 || n == 49 || n == 50 || n == 51 {
				check(digest, n)
			}
			if n <= 3 {
				attempt(alone, n, notify.Waiting)
			}
		}
		check(digest, 60)
		check(alone, 3)
		attempt(digest, 61, notify.Delivered)
		check(digest, 61)
		if _, err := s.Redeliver(t.Context(), ada, []int64{digest[0].ID}); err != nil {
			t.Fatal(err)
		}
		check(digest[:1], 61)
		attempt(digest[:1], 62, notify.Failed)
		check(digest[:1], 62)
		if n := count(t, s, `SELECT COUNT(*) FROM notify_attempts WHERE delivery_id = $1`, digest[1].ID); n != 49 {
			t.Errorf("%d rows are kept of one that was delivered", n)
		}
	})
}

// A list that grew long before is trimmed by the next attempt.
func TestLongAttemptListsAreTrimmed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 2)
		of := waiting(t, s)
		for _, d := range of {
			damage(t, s, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
				WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1052)
				SELECT CAST($1 AS BIGINT), n, 1, 1, 429, '', '' FROM numbers`, d.ID)
			damage(t, s, `UPDATE notify_deliveries SET attempts = 1052 WHERE id = $1`, d.ID)
			d.Attempts = 1052
		}
		r := &notify.Result{Deliveries: of[:1], State: notify.Waiting, Attempt: &work.Attempt{At: time.Now(), Status: 429}, Lease: name, Fence: fence}
		if err := s.SaveResult(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{50, 1052} {
			if n := count(t, s, `SELECT COUNT(*) FROM notify_attempts WHERE delivery_id = $1`, of[i].ID); n != want {
				t.Errorf("%d rows are kept, want %d", n, want)
			}
		}
	})
}
