package relay

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/store"
)

// An administrator resends a message in the moment in which retention deletes what
// failed long ago: it is sent. On PostgreSQL, where another transaction can come in
// between.
func TestRetentionWhileAMessageIsResent(t *testing.T) {
	w := newWorld(t, postgres(t), setup{noSend: true})
	ctx := t.Context()
	ids := []int64{w.add("b@example.com"), w.add("c@example.com")}
	lease, err := w.leases.Acquire(ctx, leaseName(node))
	must(t, err)
	_, err = w.queue.expire(ctx, lease, ids, 0, "Given up.", nil)
	must(t, err)

	begun, commit, errs := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	go func() {
		errs <- w.db.Write(ctx, func(tx *db.Tx) error {
			m, err := lock(ctx, tx, ids[1])
			if err == nil {
				err = w.queue.resendFailed(ctx, tx, []*message{m}, mailqueue.MessageFilter{})
			}
			close(begun)
			<-commit
			return err
		})
	}()
	<-begun
	deleted := make(chan int64, 1)
	go func() {
		var n int64
		err := w.db.WriteBulk(ctx, func(tx *db.Tx) (err error) {
			n, err = store.DeleteErrors(w.queue)(ctx, tx, tx.Now().Add(time.Hour), 10)
			return err
		})
		deleted <- n
		errs <- err
	}()
	for len(deleted) == 0 && waitingForLocks(t, w.db) == 0 {
	}
	close(commit)
	for range 2 {
		must(t, <-errs)
	}
	if n := <-deleted; n != 1 {
		t.Errorf("deleted %d, want 1", n)
	}
	w.sizes(1, 0)
}
