package db_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// Which errors of SQLite end the process. A full disk is refused for now, but not
// a sync that failed for one.
func TestFinalErrors(t *testing.T) {
	for _, c := range []struct {
		name        string
		code        int
		final, full bool // with room on the disk, and on a full one
	}{
		{"fsync", sqlite3.SQLITE_IOERR_FSYNC, true, true},
		{"fsync of the folder", sqlite3.SQLITE_IOERR_DIR_FSYNC, true, true},
		{"write", sqlite3.SQLITE_IOERR_WRITE, true, false},
		{"truncate", sqlite3.SQLITE_IOERR_TRUNCATE, true, false},
		{"index of the log", sqlite3.SQLITE_IOERR_SHMSIZE, true, false},
		{"read", sqlite3.SQLITE_IOERR_READ, true, false},
		{"short read", sqlite3.SQLITE_IOERR_SHORT_READ, true, false},
		{"lock", sqlite3.SQLITE_IOERR_LOCK, true, false},
		{"any", sqlite3.SQLITE_IOERR, true, false},
		{"memory", sqlite3.SQLITE_IOERR_NOMEM, false, false},
		{"full", sqlite3.SQLITE_FULL, false, false},
		{"read-only", sqlite3.SQLITE_READONLY_DBMOVED, false, false},
		{"cannot open", sqlite3.SQLITE_CANTOPEN, false, false},
		{"busy", sqlite3.SQLITE_BUSY, false, false},
		{"constraint", sqlite3.SQLITE_CONSTRAINT_UNIQUE, false, false},
	} {
		for full, want := range map[bool]bool{false: c.final, true: c.full} {
			if got := db.Final(c.code, func() bool { return full }); got != want {
				t.Errorf("%s, on a full disk %t: final %t", c.name, full, got)
			}
		}
	}
}

// What a process that was killed left in its log is moved into the database file
// by the next start, which begins a new log. An orderly end leaves none.
func TestTheLogOfAnUncleanEndIsMoved(t *testing.T) {
	dir := t.TempDir()
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	must(t, err)
	must(t, d.Migrate(t.Context(), things))
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "a") }))
	killed := copyFiles(t, dir, "outrigger.db", "outrigger.db-wal")
	must(t, d.Close())
	if _, err := os.Stat(filepath.Join(dir, "outrigger.db-wal")); !os.IsNotExist(err) {
		t.Errorf("after an orderly end there is a log: %v", err)
	}

	d = dbtest.Open(t, db.Options{Dir: killed})
	wantNames(t, d, "a")
	d = dbtest.Open(t, db.Options{Dir: copyFiles(t, killed, "outrigger.db")})
	wantNames(t, d, "a")
}

// copyFiles copies files as they are now into a new folder.
func copyFiles(t *testing.T, dir string, names ...string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range names {
		from, err := os.Open(filepath.Join(dir, name))
		must(t, err)
		copied, err := os.Create(filepath.Join(to, name))
		must(t, err)
		_, err = io.Copy(copied, from)
		must(t, err)
		must(t, from.Close())
		must(t, copied.Close())
	}
	return to
}

// A log without its database is not thrown away for a new one.
func TestALogWithoutItsDatabase(t *testing.T) {
	dir := t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	must(t, d.Migrate(t.Context(), things))
	orphaned := copyFiles(t, dir, "outrigger.db-wal")
	log := filepath.Join(orphaned, "outrigger.db-wal")
	before, err := os.ReadFile(log)
	must(t, err)
	_, err = db.Open(t.Context(), db.Options{Dir: orphaned})
	wantCode(t, err, "conflict", "outrigger.db-wal")
	if after, err := os.ReadFile(log); err != nil || string(after) != string(before) {
		t.Errorf("the log has %d bytes after it, and had %d: %v", len(after), len(before), err)
	}
}
