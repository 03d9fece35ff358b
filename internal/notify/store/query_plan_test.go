package store

import (
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

func newSQLiteStore(t *testing.T) *Store {
	t.Helper()
	d := dbtest.SQLite(t, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
	if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	return newStore(t, d)
}

// queryPlan is how SQLite would run a query, a line each step.
func queryPlan(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// The overview counts the deliveries of a day among millions.
func TestTheBoundsOfATableAreNotScannedFor(t *testing.T) {
	s := newSQLiteStore(t)
	for _, table := range []string{"notify_deliveries", "notify_events"} {
		if got := queryPlan(t, s, idBounds(table)); strings.Contains(got, "SCAN "+table) {
			t.Errorf("%s:\n%s", table, got)
		}
	}
}
