package hook

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"outrigger/internal/fault"
)

const (
	// unverifiedMemory bounds what all bodies hold together whose signature is not
	// known yet: six of the largest.
	unverifiedMemory = 64 << 20
	// addressShare of it is the most that one address may hold, so that four
	// at least have to come together to use it up.
	addressShare = 4
	// verifiedMemory bounds what verified bodies over firstRead hold together
	// until their events are committed. Who finds it used up waits.
	verifiedMemory = 64 << 20
)

// unverified are the bodies that are being read. A body that needs memory that is
// used up gets it from the slowest of the others.
type unverified struct {
	size int64

	mu     sync.Mutex
	held   int64
	bodies map[*body]struct{}
}

func newUnverified(size int64) *unverified {
	return &unverified{size: size, bodies: map[*body]struct{}{}}
}

func (s *unverified) enter(b *body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[b] = struct{}{}
}

// leave releases what b holds, and reports whether b was dropped.
func (s *unverified) leave(b *body) (dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(b)
	return b.dropped
}

func (s *unverified) give(b *body) {
	delete(s.bodies, b)
	s.held -= b.held
	b.held = 0
}

// received notes n more bytes of b, which is to hold grown bytes where that is
// not 0. An error says that b is to go.
func (s *unverified) received(b *body, n int, grown int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.dropped {
		return errDropped()
	}
	now := time.Now()
	b.pace.add(n, now)
	if grown == 0 {
		return nil
	}
	more := grown - b.held
	for s.heldBy(b.address)+more > s.size/addressShare {
		if !s.dropSlowest(b, now, func(o *body) bool { return o.address == b.address }) {
			return errMemory()
		}
	}
	for s.held+more > s.size {
		if !s.dropSlowest(b, now, func(*body) bool { return true }) {
			return errMemory()
		}
	}
	s.held += more
	b.held = grown
	return nil
}

func (s *unverified) heldBy(address string) int64 {
	held := int64(0)
	for b := range s.bodies {
		if b.address == address {
			held += b.held
		}
	}
	return held
}

// dropSlowest drops the slowest body but one that holds memory and is among
// those asked for. Slow is what a body does for the memory that it holds: a
// burst of megabytes that has stalled is slower than the first read of a small
// body.
func (s *unverified) dropSlowest(but *body, now time.Time, among func(*body) bool) bool {
	var slowest *body
	for b := range s.bodies {
		if b == but || b.held == 0 || !among(b) {
			continue
		}
		if slowest == nil || b.turnover(now) < slowest.turnover(now) {
			slowest = b
		}
	}
	if slowest == nil {
		return false
	}
	s.give(slowest)
	slowest.dropped = true
	_ = slowest.control.SetReadDeadline(now) // ends the read that it waits in; recorders in tests have none
	return true
}

// turnover is how often a second what b holds would come in at its pace.
func (b *body) turnover(now time.Time) float64 { return b.pace.at(now) / float64(b.held) }

func errMemory() error {
	return &fault.Error{Code: fault.Unavailable, RetryAfter: time.Second,
		Message: "Too many large webhooks are being read at once; send this one again."}
}

// paceTime is over what the pace of a body is taken: a burst long ago says
// nothing.
const paceTime = time.Second

// pace is how fast a body comes in: an average over about paceTime, in which
// the newest counts most, or over all of its time while that is less.
type pace struct {
	began  time.Time
	weight float64 // bytes as of seen; older ones count less
	seen   time.Time
}

// minAge is what the youngest body counts as: one read says nothing yet.
const minAge = 10 * time.Millisecond

func (p *pace) add(n int, now time.Time) {
	if p.began.IsZero() {
		p.began = now
	}
	p.weight, p.seen = p.weightAt(now)+float64(n), now
}

func (p *pace) weightAt(now time.Time) float64 {
	return p.weight * math.Exp(-now.Sub(p.seen).Seconds()/paceTime.Seconds())
}

// at is bytes a second.
func (p *pace) at(now time.Time) float64 {
	if p.seen.IsZero() {
		return 0
	}
	age := max(now.Sub(p.began), minAge).Seconds() / paceTime.Seconds()
	return p.weightAt(now) / (paceTime.Seconds() * (1 - math.Exp(-age)))
}

// verified is the memory of bodies whose signature was right.
type verified struct{ memory *semaphore.Weighted }

func newVerified(size int64) *verified { return &verified{semaphore.NewWeighted(size)} }

// take has the body hold its memory here until it is released. It waits for
// those before it, until ctx ends.
func (v *verified) take(ctx context.Context, b *body) error {
	n := int64(cap(b.bytes))
	if n <= firstRead {
		return nil
	}
	if err := v.memory.Acquire(ctx, n); err != nil {
		return errMemory()
	}
	b.held, b.free = n, v.memory.Release
	return nil
}
