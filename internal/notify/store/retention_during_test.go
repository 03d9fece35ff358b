package store

import (
	"context"
	"testing"
	"time"

	"outrigger/internal/db"
)

// A message that is put back in the moment in which retention deletes the old ones
// stays, and goes out.
func TestRetentionLeavesWhatIsBeingRedelivered(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 2)
		if _, err := s.Cancel(t.Context(), ada, ids); err != nil {
			t.Fatal(err)
		}
		during(t, s, func(ctx context.Context, tx *db.Tx) error {
			_, err := s.redeliver(ctx, tx, ids[1:])
			return err
		}, func() error { return sweepWith(t, s, DeleteDeliveries) })
		if n := count(t, s, `SELECT count(*) FROM notify_deliveries`); n != 1 {
			t.Fatalf("%d messages are left, want the one that was put back", n)
		}
		if got := states(t, s, ids[1:]); got != "w" {
			t.Errorf("it is %q", got)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_events WHERE needed = 1`); n != 1 {
			t.Errorf("%d events are needed, want that of the message", n)
		}
	})
}

// What a webhook speaks of again in the moment in which retention deletes what none
// has spoken of for long stays.
func TestRetentionLeavesWhatIsSpokenOfAgain(t *testing.T) {
	for name, c := range map[string]struct {
		insert, again string
		sweep         func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error)
	}{
		"pull request": {
			remains["notify_pull_requests"], `UPDATE notify_pull_requests SET seen_at = $1`, DeletePullRequests,
		},
		"commit": {
			remains["notify_commits"], `UPDATE notify_commits SET named_at = $1`, DeleteCommits,
		},
		"build": {
			remains["notify_builds"], `UPDATE notify_builds SET seen_at = $1`, DeleteBuilds,
		},
		"membership": {
			remains["notify_memberships"], `UPDATE notify_memberships SET asked_at = $1`, DeleteMemberships,
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				damage(t, s, c.insert, "dc")
				var changed int64
				during(t, s, func(ctx context.Context, tx *db.Tx) (err error) {
					changed, err = tx.Exec(ctx, c.again, db.Micros(tx.Now().Add(2*time.Hour)))
					return err
				}, func() error { return sweepWith(t, s, c.sweep) })
				table := map[string]string{"pull request": "notify_pull_requests", "commit": "notify_commits", "build": "notify_builds", "membership": "notify_memberships"}[name]
				if n := count(t, s, `SELECT count(*) FROM `+table); changed != 1 || n != 1 {
					t.Errorf("%d changed, %d left", changed, n)
				}
			})
		})
	}
}

// sweepWith deletes what is from before an hour from now.
func sweepWith(t *testing.T, s *Store, sweep func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error)) error {
	return s.db.WriteBulk(t.Context(), func(tx *db.Tx) error {
		_, err := sweep(t.Context(), tx, time.Now().Add(time.Hour), 100)
		return err
	})
}
