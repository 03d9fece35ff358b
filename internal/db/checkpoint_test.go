package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// There is always a reader that began some commits ago, so that no checkpoint
// on the way gets to the end: the log must not grow with what is written.
func TestTheLogStaysSmall(t *testing.T) {
	dir := t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	must(t, d.Migrate(t.Context(), things))
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
