package limit

import (
	"context"
	"sync"
)

// Concurrent bounds how much is done at the same time, for each key. The zero value
// is ready.
type Concurrent[K comparable] struct {
	mu   sync.Mutex
	each map[K]int
}

// Acquire counts one more of a key until release is called; ok is false where there
// are most already.
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

// OneAtATime does one thing after the other. The zero value is ready.
type OneAtATime struct {
	once sync.Once
	busy chan struct{}
}

// Do calls f as soon as nothing else is done, unless ctx ends before.
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
