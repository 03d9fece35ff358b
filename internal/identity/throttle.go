package identity

import (
	"net/netip"
	"sync"
	"time"
)

const (
	maxFailures   = 10              // of one account from one address …
	failureWindow = 5 * time.Minute // … in this time
	firstPause    = 30 * time.Second
	longestPause  = 15 * time.Minute
	// forgiveAfter is how long nobody must have failed for the pauses to begin
	// from the shortest again.
	forgiveAfter = time.Hour
	// maxThrottled bounds the memory against somebody who tries many names.
	maxThrottled = 10_000
)

// throttle slows down the guessing of passwords, on each node for itself. It
// goes by account and address, so that an account under attack from elsewhere
// stays usable.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	doors map[door]*failures
}

type door struct{ account, address string }

type failures struct {
	at     []time.Time // the last ones, at most maxFailures
	until  time.Time   // nobody may try before
	pauses int         // how often it was closed
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, doors: map[door]*failures{}}
}

// doorOf counts the addresses of one IPv6 network as one: whoever has one has
// 2^64 of them.
func doorOf(account, address string) door {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			address = network.String()
		}
	}
	return door{account, address}
}

// wait is how long nobody may try; 0 is that somebody may.
func (t *throttle) wait(d door) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.doors[d]; f != nil {
		return max(0, f.until.Sub(t.now()))
	}
	return 0
}

// failed counts a failure. The tenth in five minutes closes the door; after
// that every one does, each time for twice as long.
func (t *throttle) failed(d door) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	f := t.doors[d]
	if f == nil || now.Sub(f.last()) > forgiveAfter {
		t.makeRoom(now)
		f = &failures{}
		t.doors[d] = f
	}
	if len(f.at) == maxFailures {
		f.at = f.at[1:]
	}
	f.at = append(f.at, now)
	if f.pauses == 0 && (len(f.at) < maxFailures || now.Sub(f.at[0]) > failureWindow) {
		return
	}
	pause := longestPause
	if f.pauses < 5 { // 30 s doubled five times is above the longest
		pause = firstPause << f.pauses
	}
	f.pauses++
	f.until = now.Add(pause)
}

// succeeded forgets the failures.
func (t *throttle) succeeded(d door) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.doors, d)
}

// makeRoom drops what is forgiven, and if that is not enough, any door that is
// open.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.doors) < maxThrottled {
		return
	}
	for d, f := range t.doors {
		if now.Sub(f.last()) > forgiveAfter {
			delete(t.doors, d)
		}
	}
	for d, f := range t.doors {
		if len(t.doors) < maxThrottled*9/10 {
			return
		}
		if !now.Before(f.until) {
			delete(t.doors, d)
		}
	}
}

func (f *failures) last() time.Time { return f.at[len(f.at)-1] }
