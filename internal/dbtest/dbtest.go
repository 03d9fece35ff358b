// Package dbtest gives tests fresh databases of both kinds.
package dbtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/db"
)

// Each runs fn on a fresh SQLite and on a fresh PostgreSQL database, both with
// the schema of sets.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB), sets ...db.Migrations) {
	t.Helper()
	run := func(name string, open func(testing.TB) *db.DB) {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			if err := d.Migrate(t.Context(), sets...); err != nil {
				t.Fatal(err)
			}
			fn(t, d)
		})
	}
	run("sqlite", SQLite)
	run("postgres", Postgres)
}

// SQLite opens a fresh SQLite database, closed when the test ends.
func SQLite(t testing.TB) *db.DB {
	t.Helper()
	return Open(t, db.Options{Dir: t.TempDir()})
}

// Postgres opens a fresh PostgreSQL database, dropped when the test ends.
func Postgres(t testing.TB) *db.DB {
	t.Helper()
	return Open(t, db.Options{URL: PostgresURL(t), NodeID: "node_1"})
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

// PostgresURL is the URL of a fresh, empty database on the server of
// $TEST_POSTGRES_URL, dropped when the test ends.
func PostgresURL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		t.Fatal("TEST_POSTGRES_URL names no PostgreSQL server: run make test")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("TEST_POSTGRES_URL is not a URL")
	}
	name := "test_" + strings.ToLower(rand.Text())
	admin(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { admin(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

// admin runs one statement on the server. The test's context has ended when
// its clean-up runs.
func admin(t testing.TB, server, q string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("the PostgreSQL server of TEST_POSTGRES_URL: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, q); err != nil {
		t.Fatal(err)
	}
}
