package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// A user's test messages are counted on all nodes together, for a minute; others
// may go on, and what a user sent before the minute does not count.
func TestTestMessagesAreLimitedOnAllNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		nodes := []*Store{newStore(t, d), newStore(t, d)}
		send := func(i int, who notify.Actor) error {
			return nodes[i%2].RecordTest(t.Context(), who, "rule", "", identity.Resource{}, "https://chat.example.com/…")
		}
		for i := range notify.TestsAMinute {
			if err := send(i, ada); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			err := send(i, ada)
			if wait := fault.As(err).RetryAfter; !fault.Is(err, fault.RateLimited) || wait <= 0 || wait > time.Minute {
				t.Errorf("one more on node %d: %v, again after %s", i, err, wait)
			}
		}
		for _, other := range []notify.Actor{{Name: "bob", Source: identity.Local}, {Name: "ada", Source: "main"}} {
			if err := send(0, other); err != nil {
				t.Errorf("%s of %s: %v", other.Name, other.Source, err)
			}
		}
		var entries int
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			if err := tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM audit_entries WHERE action = 'test'`).Scan(&entries); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE audit_entries SET at = at - 60000000`)
			return err
		})
		if err != nil || entries != notify.TestsAMinute+2 {
			t.Errorf("%d entries in the audit trail, %v", entries, err)
		}
		if err := send(0, ada); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}

// Of many at once, on two nodes, no more are sent than one after another.
func TestTestMessagesAtOnceAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		nodes := []*Store{newStore(t, d), newStore(t, d)}
		var all sync.WaitGroup
		var sent atomic.Int64
		for i := range 4 * notify.TestsAMinute {
			all.Go(func() {
				err := nodes[i%2].RecordTest(t.Context(), ada, "rule", "", identity.Resource{}, "https://chat.example.com/…")
				switch {
				case err == nil:
					sent.Add(1)
				case !fault.Is(err, fault.RateLimited):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := sent.Load(); n != notify.TestsAMinute {
			t.Errorf("%d were sent, want %d", n, notify.TestsAMinute)
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}
