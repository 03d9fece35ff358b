//go:build unix

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// A data folder whose database, log or lock is removed or replaced under the open
// database: within 30 s nothing is acknowledged any more.
func TestFilesThatVanish(t *testing.T) {
	replace := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(dir, name)
			must(t, os.Remove(file))
			must(t, os.WriteFile(file, nil, 0o600))
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
	}
	for name, vanish := range map[string]func(t *testing.T, dir string){
		"folder":            func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"database":          remove("outrigger.db"),
		"log":               remove("outrigger.db-wal"),
		"lock":              remove("outrigger.lock"),
		"database replaced": replace("outrigger.db"),
		"log replaced":      replace("outrigger.db-wal"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			d, acknowledged := openWithThings(t, dir)
			vanish(t, dir)
			acknowledged += writeUntilRefused(t, d, acknowledged)
			wantCode(t, writeThing(t, d, acknowledged), fault.Unavailable, "was changed under the running server")
			if err := d.Close(); !errors.Is(err, db.ErrMoved) {
				t.Errorf("it was closed as if nothing had happened: %v", err)
			}
			if name != "log" && name != "lock" {
				return
			}
			// The database is still there, and an orderly end moved the log into it.
			d, err := db.Open(t.Context(), db.Options{Dir: dir})
			must(t, err)
			if got := names(t, d); len(got) < acknowledged {
				t.Errorf("%d things are there of %d that were acknowledged", len(got), acknowledged)
			}
			must(t, d.Close())
		})
	}
}

// A folder that was moved away and is back goes on.
func TestAFolderThatIsBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d, n := openWithThings(t, dir)
	defer d.Close()
	must(t, os.Rename(dir, dir+" moved"))
	n += writeUntilRefused(t, d, n)
	must(t, os.Rename(dir+" moved", dir))
	for deadline := time.Now().Add(patience); ; {
		err := writeThing(t, d, n)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if got := names(t, d); len(got) != n+1 {
		t.Errorf("%d things are there of %d", len(got), n+1)
	}
}

func openWithThings(t *testing.T, dir string) (d *db.DB, n int) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	must(t, err)
	must(t, d.Migrate(t.Context(), things))
	must(t, writeThing(t, d, 0))
	return d, 1
}

func writeThing(t *testing.T, d *db.DB, n int) error {
	return d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, fmt.Sprintf("t%07d", n)) })
}

// writeUntilRefused says how many writes were acknowledged before one was not.
func writeUntilRefused(t *testing.T, d *db.DB, from int) (n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); n++ {
		if err := writeThing(t, d, from+n); err != nil {
			return n
		}
	}
	t.Fatalf("after a minute writes are still acknowledged, %d of them", n)
	return n
}
