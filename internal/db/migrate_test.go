package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

func TestSchema(t *testing.T) { dbtest.SameSchema(t, things) }

const (
	first  = "CREATE TABLE m (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL) STRICT;"
	second = "ALTER TABLE m ADD COLUMN n INTEGER NOT NULL DEFAULT 0; INSERT INTO m (name) VALUES ('once');"
)

// applied are the versions that the database knows of m, and its rows.
func applied(t *testing.T, d *db.DB) (versions string, rows int) {
	t.Helper()
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		return errors.Join(
			tx.QueryRow(t.Context(), `SELECT coalesce(min(version), 0) || '-' || coalesce(max(version), 0) FROM schema_migrations WHERE component = 'm'`).Scan(&versions),
			tx.QueryRow(t.Context(), `SELECT count(*) FROM m`).Scan(&rows))
	}))
	return versions, rows
}

func TestMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		must(t, d.Migrate(t.Context(), set("m", first)))
		for range 2 {
			must(t, d.Migrate(t.Context(), set("m", first, second)))
		}
		if versions, rows := applied(t, d); versions != "1-2" || rows != 1 {
			t.Errorf("versions %s, %d rows", versions, rows)
		}
		// The release before knows less, and runs on.
		must(t, d.Migrate(t.Context(), set("m", first)))
	})
}

func TestAMigrationThatFailsLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		err := d.Migrate(t.Context(), set("m", first, second+"INSERT INTO m (name) VALUES (NULL);"))
		if err == nil || !strings.Contains(err.Error(), "0002_test.sql of m") {
			t.Errorf("the error is %v", err)
		}
		if versions, rows := applied(t, d); versions != "1-1" || rows != 0 {
			t.Errorf("versions %s, %d rows", versions, rows)
		}
		must(t, d.Migrate(t.Context(), set("m", first, second)))
	})
}

func TestAChangedMigrationIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		must(t, d.Migrate(t.Context(), set("m", first)))
		wantCode(t, d.Migrate(t.Context(), set("m", first+"\n")), fault.Conflict, "0001_test.sql")
	})
}

func TestASchemaThatNeedsANewerRelease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		needs := func(n int) string {
			return fmt.Sprintf("-- needs release: %d\nCREATE TABLE n%d (a TEXT) STRICT;", n, n)
		}
		must(t, d.Migrate(t.Context(), set("m", needs(db.Release))))
		must(t, d.Migrate(t.Context(), set("m", needs(db.Release))))
		must(t, d.Migrate(t.Context(), set("n", needs(db.Release+6))))
		err := d.Migrate(t.Context(), set("m", needs(db.Release)))
		wantCode(t, err, fault.Conflict, fmt.Sprintf("needs schema release %d, and this program has %d", db.Release+6, db.Release))
	})
}

// Nodes that start together.
func TestSeveralMigrateAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		open := func(int) *db.DB { return d }
		if d.Dialect() == db.Postgres {
			url := dbtest.PostgresURL(t)
			open = func(i int) *db.DB {
				return dbtest.Open(t, db.Options{URL: url, NodeID: fmt.Sprint("node_", i)})
			}
		}
		nodes := []*db.DB{open(0), open(1), open(2), open(3)}
		var all sync.WaitGroup
		for _, node := range nodes {
			all.Go(func() {
				if err := node.Migrate(t.Context(), set("m", first, second)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if versions, rows := applied(t, nodes[0]); versions != "1-2" || rows != 1 {
			t.Errorf("versions %s, %d rows", versions, rows)
		}
	})
}

func TestMigrationFilesInDisorder(t *testing.T) {
	d := dbtest.SQLite(t)
	for _, names := range [][]string{{"0002_a.sql"}, {"0001_a.sql", "0003_b.sql"}, {"0001_a.sql", "0001_b.sql"}, {"1_a.sql"}, {"0001_a.txt"}, {}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files["migrations/sqlite/"+name] = &fstest.MapFile{Data: []byte("CREATE TABLE m (a TEXT) STRICT;")}
		}
		if err := d.Migrate(t.Context(), db.Migrations{Name: "m", FS: files}); err == nil {
			t.Errorf("%v were taken", names)
		}
	}
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		var n int
		err := tx.QueryRow(t.Context(), `SELECT count(*) FROM sqlite_master WHERE name = 'm'`).Scan(&n)
		if n != 0 {
			t.Error("some of it was applied")
		}
		return err
	}))
}
