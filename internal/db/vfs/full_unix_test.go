//go:build unix

package vfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"outrigger/internal/db/vfs"
)

// A disk that is full fails the transaction and nothing else: what was committed
// is there, and when there is room again the next one works. The full disk is
// a limit on the size of files, so this test changes the process and runs alone.
func TestAFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.db")
	conn := open(t, file, "&vfs="+vfs.Name)
	run(t, conn, `CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB NOT NULL)`)
	run(t, conn, `INSERT INTO t VALUES (1, randomblob(100000))`)
	before := contents(t, conn)
	info, err := os.Stat(file + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int64{0, 1, 5000, 100_000, 250_000} {
		limit := was
		limit.Cur = uint64(info.Size() + room)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		_, err := conn.ExecContext(t.Context(), `INSERT INTO t VALUES (2, randomblob(300000))`)
		if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); e != nil {
			t.Fatal(e)
		}
		if err == nil || !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "I/O") {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
		if got := contents(t, conn); got != before {
			t.Fatalf("with room for %d bytes there is %s after it, and was %s", room, got, before)
		}
		if got := crash(t, file); got != before {
			t.Fatalf("with room for %d bytes in the files is %s, and was %s", room, got, before)
		}
	}
	run(t, conn, `INSERT INTO t VALUES (2, randomblob(300000))`)
	if got, want := crash(t, file), contents(t, conn); got != want || got == before {
		t.Errorf("in the files is %s\nand committed was %s", got, want)
	}
}
