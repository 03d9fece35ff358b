package threads

import (
	"fmt"
	"time"

	"outrigger/internal/work"
)

const (
	// MaxRateLimits is the seed's: so many in a row stop processing.
	MaxRateLimits = 10

	// MaxFailing is how long failures of other kinds may go on without one
	// success.
	MaxFailing = 30 * time.Minute
)

// backoff is how long to wait where the target does not say: short at first,
// since most failures pass, and a minute where they do not.
var backoff = work.Backoff{
	Steps:  []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute},
	Jitter: 0.2,
}

// Pace says when the next request may go to the target, and when to give up:
//
//   - after a failure nothing is sent until what is under way has been answered
//     and a wait is over, and then one request at a time until one succeeds;
//   - rate limits that arrive before a wait has begun are one, each wait that
//     follows and ends in another adds one, any success sets the count to 0;
//   - failures of other kinds without one success have a time limit.
//
// Whoever takes over has the exported members, which are stored.
type Pace struct {
	RateLimits   int       // in a row
	FailingSince time.Time // the first failure of another kind since the last success
	WaitUntil    time.Time // nothing is sent before
	Declared     bool      // the target said how long the wait is

	step    int  // waits since the last success
	limited bool // a rate limit arrived since the last wait began
	failed  bool // a failure of another kind did
}

// Slots is how many requests may be under way of at most max, when so many are.
// It is 0 while a wait goes on or is about to begin.
func (p *Pace) Slots(now time.Time, underWay, max int) int {
	switch {
	case p.limited || p.failed || now.Before(p.WaitUntil):
		return 0
	case p.troubled():
		return 1 - min(underWay, 1)
	}
	return max - min(underWay, max)
}

// troubled tells whether there has been no success since the last failure.
func (p *Pace) troubled() bool { return p.RateLimits > 0 || !p.FailingSince.IsZero() }

// Success notes a request that went through. A wait that was asked for still
// holds.
func (p *Pace) Success() {
	p.RateLimits, p.FailingSince, p.step = 0, time.Time{}, 0
}

// RateLimited notes a 429, with the wait that it asked for, if it did.
func (p *Pace) RateLimited(now time.Time, wait time.Duration, declared bool) {
	p.limited = true
	p.wait(now, wait, declared)
}

// Failed notes a failure of another kind, with the wait that it asked for, if
// it did.
func (p *Pace) Failed(now time.Time, wait time.Duration, declared bool) {
	p.failed = true
	p.wait(now, wait, declared)
}

func (p *Pace) wait(now time.Time, wait time.Duration, declared bool) {
	if until := now.Add(wait); declared && until.After(p.WaitUntil) {
		p.WaitUntil, p.Declared = until, true
	}
}

// Settle is called when nothing is under way any more: what failed since the
// last wait becomes one wait. It tells whether one began. rnd is as in
// work.Backoff.
func (p *Pace) Settle(now time.Time, rnd func() float64) bool {
	if !p.limited && !p.failed {
		return false
	}
	if p.limited {
		p.RateLimits++
		p.FailingSince = time.Time{}
	} else if p.FailingSince.IsZero() {
		p.FailingSince = now
	}
	p.limited, p.failed = false, false
	if !now.Before(p.WaitUntil) { // nobody said how long
		p.WaitUntil, p.Declared = now.Add(backoff.Delay(p.step, rnd)), false
	}
	p.step++
	return true
}

// Exhausted says why processing is to stop, "" to go on.
func (p *Pace) Exhausted(now time.Time) string {
	switch {
	case p.RateLimits >= MaxRateLimits:
		when := "in a while"
		if p.Declared && now.Before(p.WaitUntil) {
			when = "after " + p.WaitUntil.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("The target answered %d times in a row that it is asked too often. Continue %s.", p.RateLimits, when)
	case !p.FailingSince.IsZero() && now.Sub(p.FailingSince) >= MaxFailing:
		return fmt.Sprintf("The target has failed since %s without one success. Continue when it answers again.", p.FailingSince.UTC().Format(time.RFC3339))
	}
	return ""
}

// Resume is a fresh start after somebody continued: the counts begin again, and
// a wait that the target asked for still holds.
func (p *Pace) Resume() {
	if !p.Declared {
		p.WaitUntil = time.Time{}
	}
	*p = Pace{WaitUntil: p.WaitUntil, Declared: p.Declared}
}
