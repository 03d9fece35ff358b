package db

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Lease is the right to do what its name says, alone in the cluster, for a
// time. Every result of it is written behind Tx.Fenced.
type Lease struct {
	name  string
	fence int64

	mu    sync.Mutex
	until time.Time // by this process's monotonic clock, counted from before the renewal was sent
	timer *time.Timer
	over  bool
	lost  chan struct{}
	count prometheus.Counter // of leases that were lost
}

func newLease(name string, fence int64, until time.Time, count prometheus.Counter) *Lease {
	l := &Lease{name: name, fence: fence, until: until, lost: make(chan struct{}), count: count}
	l.mu.Lock() // the timer may fire before it is assigned
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(time.Until(until), l.lapse)
	return l
}

// Name is what the lease is about.
func (l *Lease) Name() string { return l.name }

// Fence is the number that no earlier and no later holder has.
func (l *Lease) Fence() int64 { return l.fence }

// Held is fn in a transaction that is fault.Conflict once another holder has taken the
// lease.
func (l *Lease) Held(ctx context.Context, fn func(tx *Tx) error) func(tx *Tx) error {
	return func(tx *Tx) error {
		if err := tx.Fenced(ctx, l.name, l.fence); err != nil {
			return err
		}
		return fn(tx)
	}
}

// Good reports whether something that takes at most d may be started now.
func (l *Lease) Good(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over && time.Now().Add(d).Before(l.until)
}

// Lost is closed when the lease has been released, has lapsed, or has become
// another's.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// extend moves the end; false when it is over already.
func (l *Lease) extend(until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.until = until
	l.timer.Reset(time.Until(until))
	return true
}

// lapse is what the timer calls. One that fires just as the lease is extended
// finds that its time has not come.
func (l *Lease) lapse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !time.Now().Before(l.until) {
		l.taken()
	}
}

// taken ends the lease against its holder's will. l.mu is held.
func (l *Lease) taken() {
	if !l.over {
		l.count.Inc()
	}
	l.end()
}

// lose ends the lease for its holder.
func (l *Lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *Lease) end() {
	if !l.over {
		l.over = true
		l.timer.Stop()
		close(l.lost)
	}
}
