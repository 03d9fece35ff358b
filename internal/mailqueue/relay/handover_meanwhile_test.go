package relay

import (
	"fmt"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
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

// An administrator resends a message after the waiting ones were handed over, and
// before it was handed over with the error queue. On PostgreSQL, where another
// transaction can come in between.
func TestHandoverWhileAMessageIsResent(t *testing.T) {
	w := newWorld(t, postgres(t), setup{})
	w.host.SetFaultMode(smarthost.Refuses)
	ctx := admin(t.Context())
	const all = slice + 1
	ids := make([]int64, all)
	for i := range ids {
		ids[i] = w.add(fmt.Sprintf("b%d@example.com", i))
	}
	w.settled(0, all)
	w.sender.Stop()

	held, release, errs := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	go func() {
		errs <- w.db.Write(ctx, func(tx *db.Tx) error {
			_, err := lock(ctx, tx, ids[0]) // of the first slice of the error queue
			close(held)
			<-release
			return err
		})
	}()
	<-held
	moved := make(chan int64, 1)
	go func() {
		n, err := w.queue.Handover(ctx, node, "node_2")
		moved <- n
		errs <- err
	}()
	for waitingForLocks(t, w.db) == 0 {
	}
	must(t, w.queue.Resend(ctx, ids[all-1])) // of its second slice
	close(release)
	for range 2 {
		must(t, <-errs)
	}
	sizes, err := w.queue.sizesByNode(ctx)
	must(t, err)
	if n := <-moved; n != all || sizes["node_2"] != (mailqueue.Sizes{Size: 1, ErrorSize: all - 1}) {
		t.Errorf("handed over %d of %d; sizes are %+v", n, all, sizes)
	}
	w.consistent()
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
