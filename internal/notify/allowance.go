package notify

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// account is a user: the same name of two sources is two users.
type account struct{ source, name string }

func accountOf(who *identity.Principal) account { return account{who.Source, who.Name} }

// maxAllowances is how many keys are remembered before those are forgotten that
// have all they may do again.
const maxAllowances = 1_000

// Allowances bound how often something is done in a minute, for each key, on each
// node. The zero value is ready.
type Allowances[K comparable] struct {
	mu   sync.Mutex
	each map[K]*rate.Limiter
}

// Take takes one of what a key may do, perMinute times at once and then as often
// in a minute. wait is 0, or how long there is none; then nothing was taken.
func (a *Allowances[K]) Take(key K, perMinute int, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.each == nil {
		a.each = make(map[K]*rate.Limiter)
	}
	limit := a.each[key]
	if limit == nil {
		if len(a.each) >= maxAllowances {
			a.forgetFull(now)
		}
		limit = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
		a.each[key] = limit
	}
	r := limit.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (a *Allowances[K]) forgetFull(now time.Time) {
	for key, limit := range a.each {
		if limit.TokensAt(now) >= float64(limit.Burst()) {
			delete(a.each, key)
		}
	}
}

// TooOften is fault.RateLimited: there is an allowance again after a time.
func TooOften(wait time.Duration, message string, args ...any) error {
	err := fault.New(fault.RateLimited, message, args...)
	err.RetryAfter = wait
	return err
}
