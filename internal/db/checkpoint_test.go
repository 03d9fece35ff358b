package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// There is always a reader that began some commits ago, so that no checkpoint
// on the way gets to the end: the log must not grow with what is written.
func TestTheLogStaysSmall(t *testing.T) {
	dir := t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	must(t, d.Migrate(t.Context(), things))
	must(t, d.BoundLog(t.Context(), 16<<20))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := d.Read(t.Context(), func(tx *db.Tx) error {
					err := tx.QueryRow(t.Context(), `SELECT count(*) FROM things`).Scan(new(int))
					<-time.After(50 * time.Millisecond) // what a long page takes
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	const written = 100 // MiB
	for i := range 4 * written {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name, body) VALUES ($1, $2)`, fmt.Sprint(i), make([]byte, 1<<18))
			return err
		}))
	}
	close(stop)
	readers.Wait()
	info, err := os.Stat(filepath.Join(dir, "outrigger.db-wal"))
	must(t, err)
	// One reader that was slow may have put it off once.
	if size := info.Size() >> 20; size > 70 {
		t.Errorf("the log has %d MiB after %d were written", size, written)
	}
}

// Most of the log is moved beside the writer, and it begins anew. How long the
// writer takes for its part is measured, step by step.
func TestTheLogBeginsAnew(t *testing.T) {
	registry := prometheus.NewRegistry()
	d := dbtest.Open(t, db.Options{Dir: t.TempDir(), Metrics: registry})
	must(t, d.Migrate(t.Context(), things))
	must(t, d.BoundLog(t.Context(), 16<<20))
	most := 0
	for i := range 400 { // 100 MiB
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things (name, body) VALUES ($1, $2)`, fmt.Sprint(i), make([]byte, 1<<18))
			return err
		}))
		most = max(most, logged(t, d))
	}
	if most < 16 || most > 80 { // usually 18; how many depends on the disk
		t.Errorf("the log had up to %d MiB", most)
	}
	if n, err := testutil.GatherAndCount(registry, "outrigger_db_log_seconds"); err != nil || n != 3 {
		t.Errorf("%d steps are measured: %v", n, err)
	}
}

// A reader that stays keeps the log from beginning anew, and it does when the
// reader is through.
func TestTheLogBeginsAnewAfterALongReader(t *testing.T) {
	d := dbtest.Open(t, db.Options{Dir: t.TempDir()})
	must(t, d.Migrate(t.Context(), things))
	must(t, d.BoundLog(t.Context(), 16<<20))
	fill := func(mib int) {
		for range 4 * mib {
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE things SET body = randomblob(262144) WHERE name = 'a'`)
				return err
			}))
		}
	}
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "a") }))
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		must(t, tx.QueryRow(t.Context(), `SELECT count(*) FROM things`).Scan(new(int)))
		fill(24)
		if n := logged(t, d); n < 20 {
			t.Errorf("the log has %d MiB, of which the reader may need some", n)
		}
		return nil
	}))
	for deadline := time.Now().Add(patience); logged(t, d) >= 16; fill(1) {
		if time.Now().After(deadline) {
			t.Fatalf("the log still has %d MiB", logged(t, d))
		}
	}
}

// logged is how many MiB the log has.
func logged(t *testing.T, d *db.DB) int {
	var busy, pages, moved, size int
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		if err := tx.QueryRow(t.Context(), `PRAGMA page_size`).Scan(&size); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &pages, &moved)
	}))
	return pages * size >> 20
}
