// Package limit limits what callers may do on one node: how often in a minute, and
// how much at the same time.
package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxKeys is how many keys are remembered before those that have all their uses
// left are removed.
const maxKeys = 1_000

// PerMinute limits how often a key may do something in a minute. The zero value is
// ready to use.
type PerMinute[K comparable] struct {
	mu   sync.Mutex
	each map[K]*rate.Limiter
}

// Take counts one use by a key, which may have perMinute uses at once and then as many
// in a minute. It returns 0, or how long the key has to wait if nothing was counted.
func (l *PerMinute[K]) Take(key K, perMinute int, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each == nil {
		l.each = make(map[K]*rate.Limiter)
	}
	of := l.each[key]
	if of == nil {
		if len(l.each) >= maxKeys {
			l.forgetFull(now)
		}
		of = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
		l.each[key] = of
	}
	r := of.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *PerMinute[K]) forgetFull(now time.Time) {
	for key, of := range l.each {
		if of.TokensAt(now) >= float64(of.Burst()) {
			delete(l.each, key)
		}
	}
}
