package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// A node whose write failed is not ready within 2 s, long before its next
// heartbeat, and is ready soon after writes succeed.
func TestNotReadySoonAfterAWriteFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d, err := db.Open(t.Context(), db.Options{Dir: dir})
		must(t, err)
		defer d.Close()
		must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
		c := place(t, d, "n1")
		must(t, c.Start(t.Context()))
		defer c.Stop(t.Context())
		within := func(limit time.Duration, ready bool) {
			t.Helper()
			for began := time.Now(); (c.Ready() == nil) != ready; <-time.After(10 * time.Millisecond) {
				if time.Since(began) > limit {
					t.Fatalf("after %v: %v", limit, c.Ready())
				}
			}
		}
		lock := filepath.Join(dir, "outrigger.lock")
		for range 3 {
			<-time.After(beatEvery + time.Second)
			must(t, c.Ready())
			must(t, os.Rename(lock, lock+" away"))
			<-time.After(1100 * time.Millisecond) // it is looked for once a second
			if err := d.Write(t.Context(), func(*db.Tx) error { return nil }); !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
			within(2*time.Second, false)
			must(t, os.Rename(lock+" away", lock))
			within(3*time.Second, true)
		}
	})
}
