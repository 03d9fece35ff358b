package relay

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
)

const (
	// slotTime is how long a node keeps a connection that others may wait for, and
	// slotWait how long it then leaves it to them.
	slotTime = 30 * time.Second
	slotWait = 2 * lookEvery

	// slotRest is how long it keeps one with nothing to send.
	slotRest = 5 * time.Second
)

// slot is the right to one of the connections that all nodes have together: a
// lease.
type slot struct {
	lease *db.Lease
	since time.Time
}

// hasSlot reports whether the worker may have a connection. Without one there are
// no more workers for a while than those that may.
func (w *worker) hasSlot() bool {
	if w.o.Limits.Connections == 0 {
		return true
	}
	if w.slot != nil {
		if w.slot.lease.Good(beginMargin) && !w.slotIsOver() {
			return true
		}
		w.settle()
		w.endSession()
		w.releaseSlot()
		w.noSlot(slotWait)
		return false
	}
	for n := range w.o.Limits.Connections {
		lease, err := w.queue.o.Leases.Acquire(w.ctx, fmt.Sprintf("mail-connection/%s/%d", w.o.Limits.SignIn, n))
		if err != nil {
			break
		}
		if lease != nil {
			w.slot = &slot{lease, time.Now()}
			w.countSlots(1)
			return true
		}
	}
	w.noSlot(lookEvery)
	return false
}

// slotIsOver reports whether it is time to leave the connection to other nodes.
func (w *worker) slotIsOver() bool {
	if time.Since(w.slot.since) < slotTime {
		return false
	}
	w.slot.since = time.Now()
	_, active, err := w.o.Members(w.ctx)
	return err == nil && active > 1
}

// releaseSlot lets other nodes have the worker's connection, which has ended.
func (w *worker) releaseSlot() {
	if w.slot == nil {
		return
	}
	if err := w.queue.o.Leases.Release(context.WithoutCancel(w.ctx), w.slot.lease); err != nil {
		w.o.Log.Warn("a connection to the smarthost was not left to other nodes; they get it when its lease lapses", "error", err)
	}
	w.slot = nil
	w.countSlots(-1)
}

func (r *run) countSlots(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots += n
	if n > 0 {
		r.out.wakeSender() // to draw a share
	}
}

func (r *run) noSlot(wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := time.Now().Add(wait)
	if r.slots == 0 || r.fullAgain.Before(again) {
		r.fullAgain = again
	}
	r.out.setLimit(r.slots)
	r.out.wakeSender()
}
