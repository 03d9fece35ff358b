package threads

import (
	"fmt"
	"time"

	"outrigger/internal/work"
)

const (
	// MaxRateLimits is the seed's: so many in a row stop processing.
	MaxRateLimits = 10

	// maxFailing is how long failures of other kinds may go on without one
	// success.
	maxFailing = 30 * time.Minute
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
// The exported members are stored, for a worker that takes over.
type Pace struct {
	RateLimits   int       // in a row
	FailingSince time.Time // the first failure of another kind since the last success
	WaitUntil    time.Time // nothing is sent before
	Declared     bool      // the target said how long the wait is

	TroubleSince time.Time // the first failure of any kind since the last success
	Trouble      string    // what the last of them was, in the target's words

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

// troubled reports whether there has been no success since the last failure.
func (p *Pace) troubled() bool { return p.RateLimits > 0 || !p.FailingSince.IsZero() }

// Success notes a request that went through. A wait that was asked for still
// holds.
func (p *Pace) Success() {
	p.RateLimits, p.FailingSince, p.step = 0, time.Time{}, 0
	p.TroubleSince, p.Trouble = time.Time{}, ""
}

// RateLimited notes a 429.
func (p *Pace) RateLimited(now time.Time, e *TargetError) {
	p.limited = true
	p.note(now, e)
}

// Failed notes a failure of another kind.
func (p *Pace) Failed(now time.Time, e *TargetError) {
	p.failed = true
	p.note(now, e)
}

// note keeps what a failure said, and the wait that it asked for, if it did.
func (p *Pace) note(now time.Time, e *TargetError) {
	if p.TroubleSince.IsZero() {
		p.TroubleSince = now
	}
	p.Trouble = e.Sentence()
	if until := now.Add(e.Wait); e.Declared && until.After(p.WaitUntil) {
		p.WaitUntil, p.Declared = until, true
	}
}

// Message says, while requests fail, since when and in the target's words; ""
// while they do not.
func (p *Pace) Message() string {
	if p.TroubleSince.IsZero() {
		return ""
	}
	return fmt.Sprintf("No request to the target has succeeded since %s. The last answer: %s", stamp(p.TroubleSince), p.Trouble)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Settle is called when nothing is under way any more: what failed since the
// last wait becomes one wait. It reports whether one began. rnd is as in
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
	if !now.Before(p.WaitUntil) { // the target said no time
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
			when = "after " + stamp(p.WaitUntil)
		}
		return fmt.Sprintf("The target answered %d times in a row that it is asked too often. The last answer: %s Continue %s.", p.RateLimits,
			p.Trouble, when)
	case !p.FailingSince.IsZero() && now.Sub(p.FailingSince) >= maxFailing:
		return fmt.Sprintf("The target has failed since %s without one success. The last answer: %s Continue when it answers again.",
			stamp(p.FailingSince), p.Trouble)
	}
	return ""
}

// Stop is an administrator's word that processing pauses: what the target asked
// for before does not hold when it is continued.
func (p *Pace) Stop() { p.WaitUntil, p.Declared = time.Time{}, false }

// Resume is a fresh start after processing was continued: the counts begin
// again. After a stop the target is asked at once; where the target's limits
// paused it, the wait that they asked for still holds.
func (p *Pace) Resume() {
	if !p.Declared {
		p.WaitUntil = time.Time{}
	}
	*p = Pace{WaitUntil: p.WaitUntil, Declared: p.Declared}
}
