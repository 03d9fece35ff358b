package relay

import (
	"fmt"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
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

// The queue of a node that is gone is counted, and goes to another node with
// its error queue and its attempts.
func TestHandover(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		ctx := admin(t.Context())
		gone := newQueue(t, d, w.leases, "node_2")
		for i := range slice + 10 {
			a := w.arrival("Subject: x\r\n\r\n", fmt.Sprintf("b%d@example.com", i))
			must(t, gone.accept(ctx, a))
		}
		w.sizes(0, 0)
		all, err := w.queue.sizesByNode(ctx)
		must(t, err)
		same(t, "sizes", all, map[string]mailqueue.Sizes{node: {}, "node_2": {Size: slice + 10}})

		// It must not be sending.
		other := db.NewLeases(d, "node_2", nil)
		must(t, other.Start(ctx))
		defer other.Stop()
		lease, err := other.Acquire(ctx, leaseName("node_2"))
		must(t, err)
		if _, err := w.queue.Handover(ctx, "node_2", node); !fault.Is(err, fault.Conflict) {
			t.Errorf("handed over what is being sent: %v", err)
		}
		must(t, other.Release(ctx, lease))
		if _, err := w.queue.Handover(ctx, node, node); !fault.Is(err, fault.Invalid) {
			t.Errorf("handed over to itself: %v", err)
		}
		n, err := w.queue.Handover(ctx, "node_2", node)
		if n != slice+10 || err != nil {
			t.Errorf("handed over %d, %v", n, err)
		}
		w.settled(0, 0)
		w.until("all to arrive", func() bool { return w.host.Count() == slice+10 })
		all, err = w.queue.sizesByNode(ctx)
		must(t, err)
		same(t, "sizes", all, map[string]mailqueue.Sizes{node: {}})
		same(t, "audit", w.audited(), []string{fmt.Sprintf(`hand over mail queue node_2 {"messages":"%d","to":"node_1"}`, slice+10)})

		// It comes back, and fills its queue again.
		must(t, gone.accept(ctx, w.arrival("Subject: x\r\n\r\n", "b@example.com")))
		all, err = w.queue.sizesByNode(ctx)
		must(t, err)
		same(t, "sizes", all, map[string]mailqueue.Sizes{node: {}, "node_2": {Size: 1}})

		// While it is paused by an administrator: it is not sending when it comes back.
		must(t, w.queue.SetPaused(ctx, "", true))
		n, err = w.queue.Handover(ctx, "node_2", node)
		if n != 1 || err != nil {
			t.Errorf("handed over %d, %v", n, err)
		}
		must(t, gone.Start(ctx))
		queues, err := w.queue.Queues(ctx)
		if err != nil || len(queues) != 2 || !queues[1].Paused || queues[1].Sizes != (mailqueue.Sizes{}) {
			t.Errorf("the queues are %+v, %v", queues, err)
		}
		must(t, w.queue.SetPaused(ctx, "", false))
		w.settled(0, 0)

		// To a node that has no queue yet, errors included.
		w.host.SetFaultMode(smarthost.Refuses)
		id := w.add("c@example.com")
		w.settled(0, 1)
		w.sender.Stop()
		n, err = w.queue.Handover(ctx, node, "node_3")
		if n != 1 || err != nil {
			t.Errorf("handed over %d, %v", n, err)
		}
		m, err := w.queue.Message(ctx, id)
		if err != nil || m.NodeID != "node_3" || len(m.Attempts) != 1 || m.Attempts[0].NodeID != node {
			t.Errorf("the message is %+v, %v", m, err)
		}
		w.consistent()
	})
}
