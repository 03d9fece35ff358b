package relay

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// atOnce has two administrators do something in one moment, on two nodes.
func atOnce[T any](t *testing.T, w *world, do [2]func(q *Queue, ctx context.Context) (T, error)) (got [2]T, errs [2]error) {
	t.Helper()
	queues, ctx := [2]*Queue{w.queue, w.queue}, admin(t.Context())
	if w.db.Dialect() == db.Postgres {
		queues[1] = newQueue(t, w.db, w.leases, "node_2")
	}
	var both sync.WaitGroup
	for i := range do {
		both.Go(func() { got[i], errs[i] = do[i](queues[i], ctx) })
	}
	both.Wait()
	return got, errs
}

// failedTen adds ten messages that the smarthost refuses, which takes mail again then.
func failedTen(w *world, turn int) (ids []int64) {
	w.t.Helper()
	w.host.SetFaultMode(smarthost.Refuses)
	for i := range 10 {
		ids = append(ids, w.add(fmt.Sprintf("u%d-%d@example.com", turn, i)))
	}
	w.settled(0, 10)
	w.host.SetFaultMode(smarthost.Accepts)
	return ids
}

// Ten failed messages are resent by two at once, again and again: each is resent once
// and arrives once. Where one deletes what the other resends, each is either.
func TestTwoActOnTenMessagesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		failed := mailqueue.MessageFilter{State: mailqueue.Failed}
		resend := func(q *Queue, ctx context.Context) (int64, error) { return q.ResendAll(ctx, failed) }
		remove := func(q *Queue, ctx context.Context) (int64, error) { return q.DeleteAll(ctx, failed) }
		arrived := int64(0)
		for turn := range 5 {
			failedTen(w, 2*turn)
			n, errs := atOnce(t, w, [2]func(*Queue, context.Context) (int64, error){resend, resend})
			if arrived += 10; n[0]+n[1] != 10 || errs[0] != nil || errs[1] != nil {
				t.Errorf("turn %d: resent %v, %v", turn, n, errs)
			}
			w.settled(0, 0)
			failedTen(w, 2*turn+1)
			n, errs = atOnce(t, w, [2]func(*Queue, context.Context) (int64, error){resend, remove})
			if arrived += n[0]; n[0]+n[1] != 10 || errs[0] != nil || errs[1] != nil {
				t.Errorf("turn %d: resent and deleted %v, %v", turn, n, errs)
			}
			w.settled(0, 0)
			if got := int64(w.host.Count()); got != arrived {
				t.Errorf("turn %d: %d arrived, want %d", turn, got, arrived)
			}
		}
		w.consistent()
		w.empty()
	})
}

// One of two who delete, or resend, the same message is told that the other did.
func TestTwoActOnOneMessageAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		for turn := range 3 {
			ids := failedTen(w, turn)
			w.audited()
			w.host.SetFaultMode(smarthost.Defers) // what is resent stays
			for i, id := range ids {
				do, want := (*Queue).Delete, fault.NotFound
				if i%2 == 0 {
					do, want = (*Queue).Resend, fault.Conflict
				}
				one := func(q *Queue, ctx context.Context) (bool, error) { return true, do(q, ctx, id) }
				_, errs := atOnce(t, w, [2]func(*Queue, context.Context) (bool, error){one, one})
				if errs[0] == nil == (errs[1] == nil) || !fault.Is(errs[0], want) && !fault.Is(errs[1], want) {
					t.Errorf("turn %d, message %d: %v", turn, id, errs)
				}
			}
			w.settled(5, 0)
			w.until("an attempt at each", func() bool {
				list, err := w.queue.Messages(t.Context(), mailqueue.MessageFilter{Limit: 10})
				return err == nil && !slices.ContainsFunc(list, func(m mailqueue.Message) bool { return m.DueAt.Before(time.Now()) })
			})
			if got := w.audited(); len(got) != 10 {
				t.Errorf("turn %d: the audit trail has %q", turn, got)
			}
			w.host.SetFaultMode(smarthost.Accepts)
			if n, err := w.queue.Flush(admin(t.Context()), mailqueue.MessageFilter{}); n != 5 || err != nil {
				t.Errorf("flushed %d, %v", n, err)
			}
			w.settled(0, 0)
		}
		if got := w.host.Count(); got != 15 {
			t.Errorf("%d arrived, want the 15 that were resent", got)
		}
		w.consistent()
	})
}
