package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Fair lets a few operations run at the same time. Those that wait are taken in turn
// by key, so that many of one key keep one of another waiting for no more than one of
// theirs.
type Fair[K comparable] struct {
	patience time.Duration
	errBusy  func() error

	mu      sync.Mutex
	free    int
	waiting map[K][]chan struct{} // each closed when its turn has come
	order   []K                   // the keys that wait, the next one first
}

// maxWaiting is how many may wait for each key; more are refused at once.
const maxWaiting = 64

// NewFair makes a limiter of n operations, for each of which a caller waits as long as
// patience. errBusy makes the error for one that waited in vain.
func NewFair[K comparable](n int, patience time.Duration, errBusy func() error) *Fair[K] {
	return &Fair[K]{patience: patience, errBusy: errBusy, free: n, waiting: map[K][]chan struct{}{}}
}

// Acquire waits for a turn; call release after it.
func (l *Fair[K]) Acquire(ctx context.Context, key K) (release func(), err error) {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return l.release, nil
	}
	if len(l.waiting[key]) >= maxWaiting {
		l.mu.Unlock()
		return nil, l.errBusy()
	}
	mine := make(chan struct{})
	if len(l.waiting[key]) == 0 {
		l.order = append(l.order, key)
	}
	l.waiting[key] = append(l.waiting[key], mine)
	l.mu.Unlock()
	select {
	case <-mine:
		return l.release, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(l.patience):
		err = l.errBusy()
	}
	l.leave(key, mine)
	return nil, err
}

// release hands the turn to the next key.
func (l *Fair[K]) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		l.free++
		return
	}
	key := l.order[0]
	l.order = l.order[1:]
	next := l.waiting[key][0]
	l.waiting[key] = l.waiting[key][1:]
	if len(l.waiting[key]) > 0 {
		l.order = append(l.order, key)
	} else {
		delete(l.waiting, key)
	}
	close(next)
}

// leave removes one that waits no more, or hands on the turn that came meanwhile.
func (l *Fair[K]) leave(key K, mine chan struct{}) {
	l.mu.Lock()
	i := slices.Index(l.waiting[key], mine)
	if i < 0 {
		l.mu.Unlock()
		l.release()
		return
	}
	defer l.mu.Unlock()
	l.waiting[key] = slices.Delete(l.waiting[key], i, i+1)
	if len(l.waiting[key]) == 0 {
		delete(l.waiting, key)
		l.order = slices.DeleteFunc(l.order, func(k K) bool { return k == key })
	}
}
