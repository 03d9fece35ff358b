package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// folder opens the database of a data folder with the things in it.
func folder(t *testing.T, dir string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.Migrate(t.Context(), things); err != nil {
		t.Fatal(err)
	}
	return d
}

func add(t *testing.T, d *db.DB, name string) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, name) }); err != nil {
		t.Fatal(err)
	}
}

// A backup has what was committed before it, is for its owner only, and takes
// the place of a database whose files are kept.
func TestBackupAndReplace(t *testing.T) {
	dir := t.TempDir()
	d := folder(t, dir)
	add(t, d, "before")
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := d.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	add(t, d, "after")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v, %v", info, err)
	}
	if err := d.Backup(t.Context(), file); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file that exists: %v", err)
	}
	fill := func(draft string) error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(draft, "outrigger.db"), content, 0o600)
	}
	at := time.Date(2026, 3, 1, 2, 3, 4, 0, time.UTC)
	if _, err := db.Replace(dir, at, fill); !fault.Is(err, fault.Conflict) {
		t.Errorf("under a running process: %v", err)
	}
	d.Close()
	full := errors.New("no")
	if _, err := db.Replace(dir, at, func(string) error { return full }); !errors.Is(err, full) {
		t.Errorf("a new database that cannot be made: %v", err)
	}
	if got := reopened(t, dir); !slices.Equal(got, []string{"after", "before"}) {
		t.Errorf("after a refusal the database has %v", got)
	}
	kept, err := db.Replace(dir, at, fill)
	if err != nil || kept != "outrigger.db.before-restore-20260301-020304" {
		t.Fatal(kept, err)
	}
	if got := reopened(t, dir); !slices.Equal(got, []string{"before"}) {
		t.Errorf("restored: %v", got)
	}
	old := t.TempDir()
	if err := os.Rename(filepath.Join(dir, kept), filepath.Join(old, "outrigger.db")); err != nil {
		t.Fatal(err)
	}
	if got := reopened(t, old); !slices.Equal(got, []string{"after", "before"}) {
		t.Errorf("what was kept has %v", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "restore-*")); err != nil || left != nil {
		t.Errorf("left lying: %v, %v", left, err)
	}
}

// reopened is what a folder's database has.
func reopened(t *testing.T, dir string) []string {
	t.Helper()
	d := folder(t, dir)
	defer d.Close()
	return names(t, d)
}

// A backup that cannot be written ends with an error, leaves no file, and does
// no harm to the server.
func TestBackupFails(t *testing.T) {
	d := folder(t, t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := d.Backup(ended, file); !errors.Is(err, context.Canceled) {
		t.Errorf("under a context that has ended: %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left lying: %v", err)
	}
	if err := d.Backup(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder")); err == nil {
		t.Error("a folder that does not exist was written")
	}
	add(t, d, "thing")
}

// Onto a full disk, again and again: nothing is left.
func TestBackupOntoAFullDisk(t *testing.T) {
	d := folder(t, t.TempDir())
	for i := range 80 {
		must(t, add100K(d, i))
	}
	disk := dbtest.NewDisk(t, 64)
	disk.Fill(t, 4<<20)
	for i := range 3 {
		if err := d.Backup(t.Context(), filepath.Join(disk.Dir, fmt.Sprint("backup", i, ".tmp"))); !db.IsFull(err) {
			t.Errorf("onto a full disk: %v", err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(disk.Dir, "*.tmp*")); err != nil || left != nil {
		t.Errorf("left lying: %v, %v", left, err)
	}
	must(t, add100K(d, 1000))
}

func TestNoBackupOfPostgres(t *testing.T) {
	err := dbtest.Postgres(t).Backup(t.Context(), filepath.Join(t.TempDir(), "x"))
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "pg_dump") {
		t.Errorf("got %v", err)
	}
}
