package identity

import (
	"context"
	"slices"
	"sync"
)

// maxWaiting is how many may wait for their turn at one address; more get an
// answer at once.
const maxWaiting = 64

// fairLimiter lets a few work at once. Those that wait are taken in turn by address,
// so that many from one address keep those from another waiting for no more
// than one of theirs.
type fairLimiter struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{} // by address, each closed when its turn has come
	order   []string                   // the addresses that wait, the next one first
}

func newFairLimiter(n int) *fairLimiter {
	return &fairLimiter{free: n, waiting: map[string][]chan struct{}{}}
}

// acquire waits for a turn; call done after it. When ctx ends first, or too many
// wait at the address already, there is none.
func (t *fairLimiter) acquire(ctx context.Context, address string) (done func(), err error) {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return t.release, nil
	}
	if len(t.waiting[address]) >= maxWaiting {
		t.mu.Unlock()
		return nil, errBusy()
	}
	mine := make(chan struct{})
	if len(t.waiting[address]) == 0 {
		t.order = append(t.order, address)
	}
	t.waiting[address] = append(t.waiting[address], mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return t.release, nil
	case <-ctx.Done():
		t.leave(address, mine)
		return nil, context.Cause(ctx)
	}
}

// release hands the turn to the next address.
func (t *fairLimiter) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	address := t.order[0]
	t.order = t.order[1:]
	next := t.waiting[address][0]
	t.waiting[address] = t.waiting[address][1:]
	if len(t.waiting[address]) > 0 {
		t.order = append(t.order, address)
	} else {
		delete(t.waiting, address)
	}
	close(next)
}

// leave takes one away who waits no more, or hands on the turn that came
// meanwhile.
func (t *fairLimiter) leave(address string, mine chan struct{}) {
	t.mu.Lock()
	i := slices.Index(t.waiting[address], mine)
	if i < 0 {
		t.mu.Unlock()
		t.release()
		return
	}
	defer t.mu.Unlock()
	t.waiting[address] = slices.Delete(t.waiting[address], i, i+1)
	if len(t.waiting[address]) == 0 {
		delete(t.waiting, address)
		t.order = slices.DeleteFunc(t.order, func(a string) bool { return a == address })
	}
}
