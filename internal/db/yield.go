package db

import (
	"context"
	"sync"
	"time"
)

// gauge counts the hot writes under way, so that bulk work can wait for none.
type gauge struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil while no caller waits
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n += n
	if g.n == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// zero is closed when nothing is under way.
func (g *gauge) zero() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n == 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	return g.idle
}

// yield lets bulk work run: one slice at a time, when no hot write is
// under way or bulkPatience is over. The caller calls leave when done.
func (e *postgresEngine) yield(ctx context.Context) (leave func(), err error) {
	select {
	case e.bulk <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	patience := time.NewTimer(bulkPatience)
	defer patience.Stop()
	select {
	case <-e.hot.zero():
	case <-patience.C:
	case <-ctx.Done():
		<-e.bulk
		return nil, ctx.Err()
	}
	return func() { <-e.bulk }, nil
}
