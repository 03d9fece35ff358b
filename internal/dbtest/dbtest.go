// Package dbtest gives tests fresh databases of both kinds.
package dbtest

import (
	"testing"

	"outrigger/internal/db"
)

// Each runs fn on a fresh SQLite and on a fresh PostgreSQL database, both with
// the schema of sets.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB), sets ...db.Migrations) {
	t.Helper()
	run := func(name string, open func(testing.TB, ...db.Migrations) *db.DB) {
		t.Run(name, func(t *testing.T) {
			d := open(t, sets...)
			if err := d.Migrate(t.Context(), sets...); err != nil {
				t.Fatal(err)
			}
			fn(t, d)
		})
	}
	run("sqlite", SQLite)
	run("postgres", Postgres)
}

// SQLite opens a fresh SQLite database, closed when the test ends. With sets it
// has their schema already, and the test's Migrate finds nothing to do.
func SQLite(t testing.TB, sets ...db.Migrations) *db.DB {
	t.Helper()
	dir := t.TempDir()
	if len(sets) > 0 {
		SQLiteFile(t, dir, sets...)
	}
	return Open(t, db.Options{Dir: dir})
}

// Postgres opens a fresh PostgreSQL database, dropped when the test ends. With
// sets it has their schema already, and the test's Migrate finds nothing to do.
func Postgres(t testing.TB, sets ...db.Migrations) *db.DB {
	t.Helper()
	return Open(t, db.Options{URL: PostgresURL(t, sets...), NodeID: "node_1"})
}

// Open opens what o says, closed when the test ends.
func Open(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Leases are those of a node, started, and stopped when the test ends.
func Leases(t testing.TB, d *db.DB, node string) *db.Leases {
	t.Helper()
	l := db.NewLeases(d, node, nil)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return l
}
