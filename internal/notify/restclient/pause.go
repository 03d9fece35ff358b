package restclient

import (
	"time"

	"outrigger/internal/fault"
)

// pause is a time in which an account does not ask, and why.
type pause struct {
	until time.Time
	why   string
}

// paused is nil where the account may ask.
func (cl *Client) paused(account string) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	p, now := cl.pauses[account], cl.now()
	if !now.Before(p.until) {
		return nil
	}
	err := fault.New(fault.Unavailable, "%s It is asked again in %s.", p.why, p.until.Sub(now).Round(time.Second))
	err.RetryAfter = p.until.Sub(now)
	return err
}

// note begins a pause where err asks for one, and forgets those that are over.
func (cl *Client) note(account string, err error) {
	f := fault.As(err)
	if f == nil || f.RetryAfter == 0 {
		return
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	now := cl.now()
	for other, p := range cl.pauses {
		if !now.Before(p.until) {
			delete(cl.pauses, other)
		}
	}
	cl.pauses[account] = pause{until: now.Add(f.RetryAfter), why: f.Message}
}
