package vfs_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"outrigger/internal/db/vfs"
)

// open opens a file as the program does, with a cache so small that a
// transaction of some rows writes to the log before it ends.
func open(t *testing.T, file, parameters string) *sql.Conn {
	t.Helper()
	if err := vfs.Register(); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(0)&_pragma=cache_size(10)"+parameters)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		pool.Close()
	})
	return conn
}

func run(t *testing.T, conn *sql.Conn, q string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(context.Background(), q, args...); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

// contents is all rows, and an error where the file is not sound.
func contents(t *testing.T, conn *sql.Conn) string {
	t.Helper()
	var sound, all string
	if err := conn.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&sound); err != nil || sound != "ok" {
		t.Fatalf("integrity: %s %v", sound, err)
	}
	if err := conn.QueryRowContext(t.Context(),
		`SELECT coalesce(group_concat(k || ':' || hex(substr(v, 1, 8)) || length(v), ' ' ORDER BY k), '') FROM t`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// crash is the database as another program finds it that opens what is in the
// files now, as after kill -9.
func crash(t *testing.T, file string) string {
	t.Helper()
	after := filepath.Join(t.TempDir(), "after.db")
	for _, part := range []string{"", "-wal"} {
		from, err := os.Open(file + part)
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(after + part)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		from.Close()
		to.Close()
	}
	return contents(t, open(t, after, ""))
}

// Random transactions of all sizes, taken back whole and in parts, with
// checkpoints between them, leave what they leave with SQLite's own VFS; and
// what is committed is in the files at once, and nothing else.
func TestLikeTheDefault(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			file := filepath.Join(t.TempDir(), "own.db")
			conns := []*sql.Conn{
				open(t, file, "&vfs="+vfs.Name),
				open(t, filepath.Join(t.TempDir(), "default.db"), ""),
			}
			both := func(q string, args ...any) {
				t.Helper()
				for _, conn := range conns {
					run(t, conn, q, args...)
				}
			}
			both(`CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB NOT NULL)`)
			both(`CREATE INDEX t_v ON t (substr(v, 1, 8))`)
			for range 20 {
				both(`BEGIN IMMEDIATE`)
				for range rnd.IntN(30) {
					v := make([]byte, 8+rnd.IntN(20_000))
					for i := range 8 {
						v[i] = byte(rnd.Uint32())
					}
					switch rnd.IntN(8) {
					case 0:
						both(`SAVEPOINT s`)
						both(`UPDATE t SET v = ? WHERE k % 3 = 1`, v)
						both(`ROLLBACK TO s`)
					case 1:
						both(`DELETE FROM t WHERE k = ?`, rnd.IntN(200))
					case 2:
						both(`UPDATE t SET v = v || x'00' WHERE k > ?`, rnd.IntN(200))
					default:
						both(`INSERT INTO t VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v`, rnd.IntN(200), v)
					}
				}
				both([]string{`COMMIT`, `COMMIT`, `COMMIT`, `ROLLBACK`}[rnd.IntN(4)])
				own, want := contents(t, conns[0]), contents(t, conns[1])
				if own != want {
					t.Fatalf("got  %s\nwant %s", own, want)
				}
				if got := crash(t, file); got != own {
					t.Fatalf("in the files is %s\nand committed was %s", got, own)
				}
				if rnd.IntN(4) == 0 {
					both([]string{`PRAGMA wal_checkpoint(PASSIVE)`, `PRAGMA wal_checkpoint(TRUNCATE)`}[rnd.IntN(2)])
				}
			}
		})
	}
}

// Several connections write in turn and read what the others wrote.
func TestConnectionsSeeEachOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.db")
	var conns []*sql.Conn
	for range 3 {
		conns = append(conns, open(t, file, "&vfs="+vfs.Name))
	}
	run(t, conns[0], `CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB NOT NULL)`)
	for k := range 60 {
		run(t, conns[k%3], `INSERT INTO t VALUES (?, randomblob(5000))`, k)
		if k%10 == 0 {
			run(t, conns[(k+1)%3], `PRAGMA wal_checkpoint(PASSIVE)`)
		}
		for i, conn := range conns {
			var n int
			if err := conn.QueryRowContext(t.Context(), `SELECT count(*) FROM t WHERE length(v) = 5000`).Scan(&n); err != nil || n != k+1 {
				t.Fatalf("connection %d sees %d of %d rows: %v", i, n, k+1, err)
			}
		}
	}
	if got, want := crash(t, file), contents(t, conns[0]); got != want {
		t.Errorf("in the files is %s\nand committed was %s", got, want)
	}
}
