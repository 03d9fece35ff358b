package vfs

import (
	"database/sql"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	_ "modernc.org/sqlite"
)

// Each commit is synced once, the first one by SQLite's own VFS. One whose sync
// fails has failed, and leaves nothing.
func TestEachCommitIsSynced(t *testing.T) {
	if err := Register(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "a.db")+"?vfs="+Name+"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	insert := func() error {
		_, err := db.Exec(`CREATE TABLE IF NOT EXISTS t (v BLOB); INSERT INTO t VALUES (randomblob(200000))`)
		return err
	}
	write := func() {
		t.Helper()
		if err := insert(); err != nil {
			t.Fatal(err)
		}
	}
	write() // opens the log, which counting needs

	var whole, contents int
	xSync, fdatasync := theirs.FxSync, syncContent
	defer func() { theirs.FxSync, syncContent = xSync, fdatasync }()
	counting := func(tls *libc.TLS, file uintptr, flags int32) int32 {
		whole++
		return function[func(*libc.TLS, uintptr, int32) int32](xSync)(tls, file, flags)
	}
	defer runtime.KeepAlive(counting)
	theirs.FxSync = pointer(counting)
	works := true
	syncContent = func(fd int) error {
		contents++
		if !works {
			return unix.EIO
		}
		return fdatasync(fd)
	}
	for range 5 {
		write()
	}
	if whole != 0 || contents != 5 {
		t.Errorf("5 commits to an open log were synced %d times, and %d times by SQLite's own VFS", contents, whole)
	}
	works = false
	if err := insert(); err == nil || whole != 0 {
		t.Errorf("where fdatasync fails, the commit gives %v after %d other syncs", err, whole)
	}
	works = true
	write()
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM t`).Scan(&rows); err != nil || rows != 7 {
		t.Errorf("%d rows are there, of 7 that were committed: %v", rows, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
