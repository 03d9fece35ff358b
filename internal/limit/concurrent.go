package limit

import (
	"context"
	"sync"
)

// Concurrent limits how many operations of a key run at the same time. The zero value
// is ready to use.
type Concurrent[K comparable] struct {
	mu   sync.Mutex
	each map[K]int
}

// Acquire takes a slot of a key until release is called. It reports false if most
// slots are taken.
func (l *Concurrent[K]) Acquire(key K, most int) (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[key] >= most {
		return nil, false
	}
	if l.each == nil {
		l.each = make(map[K]int)
	}
	l.each[key]++
	return func() { l.release(key) }, true
}

func (l *Concurrent[K]) release(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[key]--; l.each[key] == 0 {
		delete(l.each, key)
	}
}

// Idle reports whether no slot of any key is taken.
func (l *Concurrent[K]) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.each) == 0
}

// OneAtATime runs functions one after the other. The zero value is ready to use.
type OneAtATime struct {
	once sync.Once
	busy chan struct{}
}

// Do calls f as soon as no other call runs, unless ctx ends first.
func (l *OneAtATime) Do(ctx context.Context, f func()) error {
	l.once.Do(func() { l.busy = make(chan struct{}, 1) })
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.busy }()
	f()
	return nil
}
