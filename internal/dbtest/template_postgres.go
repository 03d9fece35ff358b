package dbtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/db"
)

// templates are the names of the templates that this process knows to be there.
var templates sync.Map

// postgresTemplate is a database with the schema of sets, from which tests copy
// theirs: applying the migrations takes four times as long as the copy. Its name
// is the checksum of the migrations. All packages share it, and it stays on the
// server, where the next run finds it.
func postgresTemplate(t testing.TB, server string, sets []db.Migrations) string {
	t.Helper()
	name := "template_" + checksum(t, sets)
	if _, ok := templates.Load(name); ok {
		return name
	}
	admin(t, server, func(ctx context.Context, conn *pgx.Conn) error {
		// Held until conn is closed: another package may be making the same one.
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
			return err
		}
		var there bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
		if err != nil || there {
			return err
		}
		return makeTemplate(ctx, t, conn, server, name, sets)
	})
	templates.Store(name, true)
	return name
}

// makeTemplate renames the database when it is complete, so that a
// process that is killed here leaves no half of a schema behind.
func makeTemplate(ctx context.Context, t testing.TB, conn *pgx.Conn, server, name string, sets []db.Migrations) error {
	t.Helper()
	unfinished := "test_" + strings.ToLower(rand.Text())
	if err := createPostgres(ctx, conn, unfinished, "template0"); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Options{URL: at(t, server, unfinished), NodeID: "node_1"})
	if err != nil {
		return fmt.Errorf("opening the template: %w", err)
	}
	if err := d.Migrate(ctx, sets...); err != nil {
		d.Close()
		return fmt.Errorf("migrating the template: %w", err)
	}
	if err := d.Close(); err != nil {
		return fmt.Errorf("closing the template: %w", err)
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return err
}

// checksum covers every file of sets and of the schema that comes before them.
func checksum(t testing.TB, sets []db.Migrations) string {
	t.Helper()
	h := sha256.New()
	for _, set := range append([]db.Migrations{db.Schema}, sets...) {
		err := fs.WalkDir(set.FS, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			script, err := fs.ReadFile(set.FS, path)
			fmt.Fprintf(h, "%q %q %q\n", set.Name, path, script)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
