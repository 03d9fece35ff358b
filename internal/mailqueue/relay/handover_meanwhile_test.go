package relay

import (
	"fmt"
	"testing"

	"outrigger/internal/db"
)

// An administrator deletes one of the first messages in the moment in which a queue
// of more than one slice is handed over: all others go to the other node.
func TestHandoverWhileAMessageIsDeleted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		w.sender.Stop()
		ctx := admin(t.Context())
		gone := newQueue(t, d, w.leases, "node_2")
		var first int64
		for i := range slice + 10 {
			a := w.arrival("Subject: x\r\n\r\n", fmt.Sprintf("b%d@example.com", i))
			must(t, gone.accept(ctx, a))
			if i == 0 {
				first = a.id
			}
		}
		begun, commit, errs := make(chan struct{}), make(chan struct{}), make(chan error, 2)
		go func() {
			errs <- d.Write(ctx, func(tx *db.Tx) error {
				err := gone.Remove(ctx, tx, []int64{first})
				close(begun)
				<-commit
				return err
			})
		}()
		<-begun
		moved := make(chan int64, 1)
		go func() {
			n, err := w.queue.Handover(ctx, "node_2", node)
			moved <- n
			errs <- err
		}()
		for d.Dialect() == db.Postgres && len(moved) == 0 && waitingForLocks(t, d) == 0 { // SQLite has one writer, which Handover waits for
		}
		close(commit)
		for range 2 {
			must(t, <-errs)
		}
		if n := <-moved; n != slice+9 {
			t.Errorf("handed over %d, want %d", n, slice+9)
		}
		w.sizes(slice+9, 0)
		w.consistent()
	})
}

// waitingForLocks is how many transactions wait for one another.
func waitingForLocks(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE NOT l.granted AND a.datname = current_database()`).Scan(&n)
	}))
	return n
}
