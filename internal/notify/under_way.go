package notify

import (
	"context"
	"sync"
)

// underWay counts what users have under way on this node. The zero value is
// ready.
type underWay struct {
	mu   sync.Mutex
	each map[account]int
}

// enter counts one more of a user until leave is called, unless there are max.
func (u *underWay) enter(who account, max int) (leave func(), ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.each[who] >= max {
		return nil, false
	}
	if u.each == nil {
		u.each = make(map[account]int)
	}
	u.each[who]++
	return func() { u.leave(who) }, true
}

func (u *underWay) leave(who account) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.each[who]--; u.each[who] == 0 {
		delete(u.each, who)
	}
}

// oneAtATime does one thing after the other. The zero value is ready.
type oneAtATime struct {
	once sync.Once
	busy chan struct{}
}

// do calls f as soon as nothing else is done, unless ctx ends before.
func (o *oneAtATime) do(ctx context.Context, f func()) error {
	o.once.Do(func() { o.busy = make(chan struct{}, 1) })
	select {
	case o.busy <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-o.busy }()
	f()
	return nil
}
