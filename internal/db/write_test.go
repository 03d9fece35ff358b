package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// busy keeps the writer in a transaction until release is called.
func busy(t *testing.T, d *db.DB) (release func()) {
	t.Helper()
	running, end, through := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(through)
		err := d.Write(context.Background(), func(*db.Tx) error {
			close(running)
			<-end
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-running
	return func() { close(end); <-through }
}

func TestAFailureIsItsOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		release := busy(t, d)
		var all sync.WaitGroup
		want := []string{}
		for i := range 300 { // more than one group
			name := fmt.Sprintf("t%03d", i)
			if i%4 != 0 {
				want = append(want, name)
			}
			all.Go(func() {
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					must(t, insert(t.Context(), tx, name))
					switch i % 4 {
					case 0:
						switch i % 3 {
						case 0:
							return errors.New("refused")
						case 1:
							panic("a bug")
						}
						return insert(t.Context(), tx, name)
					}
					return nil
				})
				if (err != nil) != (i%4 == 0) {
					t.Errorf("call %d: %v", i, err)
				}
			})
		}
		release()
		all.Wait()
		wantNames(t, d, want...)
	})
}

func TestWhatWaitsIsCommittedTogether(t *testing.T) {
	registry := prometheus.NewRegistry()
	d := dbtest.Open(t, db.Options{Dir: t.TempDir(), Metrics: registry})
	must(t, d.Migrate(t.Context(), things))
	commits := func() float64 {
		all, err := registry.Gather()
		must(t, err)
		for _, f := range all {
			if f.GetName() == "outrigger_db_commits_total" {
				return f.GetMetric()[0].GetCounter().GetValue()
			}
		}
		t.Fatal("commits are not counted")
		return 0
	}
	release := busy(t, d)
	before := commits()
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, fmt.Sprint(i)) }))
		})
	}
	for d.Queued() < 100 {
		runtime.Gosched() // they are on their way
	}
	release()
	all.Wait()
	if n := commits() - before; n > 2 {
		t.Errorf("100 writes that waited took %v commits", n)
	}
}

func TestAContextThatEndsInTheQueue(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	release := busy(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := d.Write(ctx, func(tx *db.Tx) error {
		t.Error("it ran")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	release()
	wantNames(t, d)
}

func TestAContextThatEndsWithinAWriteIsIgnored(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		must(t, d.Write(ctx, func(tx *db.Tx) error {
			cancel()
			return insert(ctx, tx, "a")
		}))
		wantNames(t, d, "a")
		if err := d.Write(ctx, func(tx *db.Tx) error { return insert(ctx, tx, "b") }); !errors.Is(err, context.Canceled) {
			t.Errorf("a write whose context had ended: %v", err)
		}
		wantNames(t, d, "a")
	})
}

func TestBulkWorkWaits(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	release := busy(t, d)
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	write := func(how func(context.Context, func(*db.Tx) error) error, name string) {
		before := d.Queued()
		all.Go(func() {
			must(t, how(t.Context(), func(tx *db.Tx) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				return nil
			}))
		})
		for d.Queued() == before {
			runtime.Gosched() // it is on its way
		}
	}
	write(d.WriteBulk, "bulk")
	write(d.WriteBulk, "bulk")
	for range 20 {
		write(d.Write, "hot")
	}
	release()
	all.Wait()
	if n := len(order); n != 22 || order[n-1] != "bulk" {
		t.Errorf("the order was %v", order)
	}
}

// PostgreSQL has connections enough for both, and bulk work waits all the same:
// for the hot writes to end, or for some time.
func TestBulkWorkWaitsForHotWritesOfOtherConnections(t *testing.T) {
	d := dbtest.Postgres(t)
	release := busy(t, d)
	began := time.Now()
	must(t, d.WriteBulk(t.Context(), func(*db.Tx) error { return nil }))
	if waited := time.Since(began); waited < 200*time.Millisecond {
		t.Errorf("it waited %v", waited)
	}
	through := make(chan struct{})
	go func() {
		defer close(through)
		if err := d.WriteBulk(context.Background(), func(*db.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
	}()
	release()
	<-through

	release = busy(t, d)
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := d.WriteBulk(ctx, func(*db.Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// Bulk work gets its turn however many hot writes there are.
func TestBulkWorkIsNotStarved(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		stop := make(chan struct{})
		var hot sync.WaitGroup
		for range 4 {
			hot.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						must(t, d.Write(context.Background(), func(*db.Tx) error { return nil }))
					}
				}
			})
		}
		for i := range 3 {
			must(t, d.WriteBulk(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, fmt.Sprint(i)) }))
		}
		close(stop)
		hot.Wait()
		wantNames(t, d, "0", "1", "2")
	})
}

func TestConcurrentWritesAllCount(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := context.Background()
		must(t, d.Write(ctx, func(tx *db.Tx) error { return insert(ctx, tx, "a") }))
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for range 20 {
					must(t, d.Write(ctx, func(tx *db.Tx) error {
						_, err := tx.Exec(ctx, `UPDATE things SET n = n + 1`)
						return err
					}))
					must(t, d.Read(ctx, func(tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT n FROM things`).Scan(new(int)) }))
				}
			})
		}
		all.Wait()
		var n int
		must(t, d.Read(ctx, func(tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT n FROM things`).Scan(&n) }))
		if n != 320 {
			t.Errorf("320 additions made %d", n)
		}
	})
}

// Two transactions that lock two rows crosswise: PostgreSQL undoes one, and it
// is run again.
func TestADeadlockIsRetried(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		ctx := context.Background()
		must(t, d.Write(ctx, func(tx *db.Tx) error { return errors.Join(insert(ctx, tx, "a"), insert(ctx, tx, "b")) }))
		var met sync.WaitGroup // each holds its first row before either asks for its second
		met.Add(2)
		var all sync.WaitGroup
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			all.Go(func() {
				runs := 0
				err := d.Write(ctx, func(tx *db.Tx) error {
					runs++
					for _, name := range order {
						if _, err := tx.Exec(ctx, `UPDATE things SET n = n + 1 WHERE name = $1`, name); err != nil {
							return err
						}
						if name == order[0] && runs == 1 && tx.Dialect() == db.Postgres {
							met.Done()
							met.Wait()
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var n int
		must(t, d.Read(ctx, func(tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT min(n) FROM things`).Scan(&n) }))
		if n != 2 {
			t.Errorf("2 additions made %d", n)
		}
	})
}

// A test that fails inside a transaction ends its goroutine there.
func TestACallThatEndsItsGoroutine(t *testing.T) {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		must(t, insert(t.Context(), tx, "a"))
		runtime.Goexit()
		return nil
	})
	if err == nil {
		t.Error("it passed for success")
	}
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "b") }))
	wantNames(t, d, "b")
}

func TestClose(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		release := busy(t, d)
		closed := make(chan error)
		go func() { closed <- d.Close() }()
		release()
		must(t, <-closed)
		must(t, d.Close())
		wantCode(t, d.Write(t.Context(), func(*db.Tx) error { return nil }), fault.Unavailable, "closed")
		wantCode(t, d.Read(t.Context(), func(*db.Tx) error { return nil }), fault.Unavailable, "closed")
		wantCode(t, d.WriteBulk(t.Context(), func(*db.Tx) error { return nil }), fault.Unavailable, "closed")
	})
}

// What was acknowledged is there though the file was never closed.
func TestACrashLosesNothingAcknowledged(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	must(t, d.Migrate(t.Context(), things))
	want := []string{}
	for i := range 50 {
		name := fmt.Sprintf("t%02d", i)
		want = append(want, name)
		must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, name) }))
	}
	for _, file := range []string{"outrigger.db", "outrigger.db-wal"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(copied, file), content, 0o600))
	}
	again := dbtest.Open(t, db.Options{Dir: copied})
	wantNames(t, again, want...)
	must(t, again.Read(t.Context(), func(tx *db.Tx) error {
		var verdict string
		must(t, tx.QueryRow(t.Context(), `PRAGMA integrity_check`).Scan(&verdict))
		if verdict != "ok" {
			t.Errorf("the integrity check says %q", verdict)
		}
		return nil
	}))
}

// The settings that the promises rest on.
func TestDurability(t *testing.T) {
	onBoth(t, func(t *testing.T, d *db.DB) {
		settings := map[string]string{`PRAGMA journal_mode`: "wal", `PRAGMA synchronous`: "2", `PRAGMA foreign_keys`: "1"}
		if d.Dialect() == db.Postgres {
			settings = map[string]string{`SHOW synchronous_commit`: "on", `SHOW transaction_isolation`: "read committed"}
		}
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			for q, want := range settings {
				var got string
				must(t, tx.QueryRow(t.Context(), q).Scan(&got))
				if got != want {
					t.Errorf("%s is %q, not %q", q, got, want)
				}
			}
			return nil
		}))
	})
}
