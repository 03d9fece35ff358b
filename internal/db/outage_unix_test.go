//go:build unix

package db_test

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// A disk that is full is everyone's: what the group had stored before goes
// with it, and nothing is half there.
func TestAFullDiskFailsTheGroup(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	release := busy(t, d)
	var all sync.WaitGroup
	for i := range 9 {
		all.Go(func() {
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				if _, err := tx.Exec(t.Context(), `PRAGMA max_page_count = 20`); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `INSERT INTO things (name, body) VALUES ($1, zeroblob(40000))`, fmt.Sprint(i))
				if err != nil && i%2 == 0 {
					return nil // a caller that overlooks it gets the error all the same
				}
				return err
			})
			wantCode(t, err, fault.Unavailable, "full")
		})
	}
	for d.Queued() < 9 {
		runtime.Gosched() // they are on their way
	}
	release()
	all.Wait()
	wantNames(t, d)
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "after") }))
	wantNames(t, d, "after")
}

func TestAReadOnlyFile(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), `PRAGMA query_only = 1`); err != nil {
			return err
		}
		return insert(t.Context(), tx, "a")
	})
	wantCode(t, err, fault.Unavailable, "cannot be written")
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "b") }))
	wantNames(t, d, "b")
}

// The file may not grow, for as long as a limit of the process says: every
// write fails, and the same open database goes on when it is lifted.
func TestADiskThatFailsForAWhile(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	batch := db.NewBatch(d, "things", 10, storeThings)
	write := func(name string) error {
		return d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name, body) VALUES ($1, $2)`, name, make([]byte, 8<<20))
			return err
		})
	}
	must(t, write("before"))

	lift := limitFiles(t, 6<<20) // the log is longer; what go test notes of files that are opened is not
	for i := range 3 {
		wantCode(t, write(fmt.Sprint("during", i)), fault.Unavailable, " is full")
		wantCode(t, batch.Do(t.Context(), &thing{name: fmt.Sprint("batched", i)}), fault.Unavailable, "full")
	}
	wantNames(t, d, "before") // readers go on
	lift()

	must(t, write("after"))
	must(t, batch.Do(t.Context(), &thing{name: "batched"}))
	wantNames(t, d, "after", "batched", "before")
}

// limitFiles has every write past size bytes of a file fail until lift.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}))
	return func() {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		signal.Reset(syscall.SIGXFSZ)
	}
}

func TestThePostgresServerIsAway(t *testing.T) {
	proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"})
	must(t, d.Migrate(t.Context(), things))
	batch := db.NewBatch(d, "things", 10, storeThings)
	write := func(name string) error {
		return d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, name) })
	}
	must(t, write("before"))

	proxy.Away()
	for range 3 {
		wantCode(t, write("during"), fault.Unavailable, "database does not answer")
		wantCode(t, d.Ping(t.Context()), fault.Unavailable, "database does not answer")
		wantCode(t, batch.Do(t.Context(), &thing{name: "during"}), fault.Unavailable, "database does not answer")
	}
	_, err := db.Open(t.Context(), db.Options{URL: url, NodeID: "node_2"})
	wantCode(t, err, fault.Unavailable, "database does not answer")
	proxy.Back()

	must(t, write("after"))
	must(t, d.Ping(t.Context()))
	wantNames(t, d, "after", "before")
}

// Idle connections are cut by a restart without an error to callers.
func TestThePostgresServerRestarts(t *testing.T) {
	proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"})
	must(t, d.Migrate(t.Context(), things))
	var all sync.WaitGroup
	var met sync.WaitGroup
	met.Add(8)
	for range 8 { // so many connections
		all.Go(func() {
			must(t, d.Write(t.Context(), func(*db.Tx) error {
				met.Done()
				met.Wait()
				return nil
			}))
		})
	}
	all.Wait()
	proxy.Restart()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "a") }))
	must(t, d.Ping(t.Context()))

	err := d.Write(t.Context(), func(tx *db.Tx) error {
		proxy.Restart()
		insert(t.Context(), tx, "b")
		return errors.New("which says nothing of the database")
	})
	wantCode(t, err, fault.Unavailable, "database does not answer")
	wantNames(t, d, "a")
}

// The answer to a COMMIT is lost: it may have been stored, and the
// error claims neither.
func TestTheAnswerToACommitIsLost(t *testing.T) {
	proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"})
	must(t, d.Migrate(t.Context(), things))
	runs := 0
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		runs++
		proxy.LoseAnswer("commit")
		return insert(t.Context(), tx, "a")
	})
	wantCode(t, err, fault.Unavailable, "may or may not have been saved")
	if runs != 1 {
		t.Errorf("it ran %d times", runs)
	}
	wantNames(t, d, "a")
}

// A connection that PostgreSQL ends by an administrator's word, or a failover
// to a server that takes no writes yet.
func TestPostgresRefusesForNow(t *testing.T) {
	d := dbtest.Postgres(t)
	must(t, d.Migrate(t.Context(), things))
	for q, words := range map[string]string{
		`SELECT pg_terminate_backend(pg_backend_pid())`: "does not answer",
		`SET TRANSACTION READ ONLY`:                     "takes no writes now",
		`SET LOCAL statement_timeout = 1`:               "too busy",
	} {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(t.Context(), q); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name) SELECT 'a' FROM pg_sleep(0.1)`)
			return err
		})
		wantCode(t, err, fault.Unavailable, words)
	}
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "b") }))
	wantNames(t, d, "b")
}
