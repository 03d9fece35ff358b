package outbox

import (
	"time"

	"outrigger/internal/notify"
)

// closeGate rests a channel after a failure: for as long as the platform
// asked, else by the step. The step counts up either way.
func closeGate(c *notify.Channel, now time.Time, o outcome, random func() float64) {
	delay := o.retry
	if delay == 0 {
		delay = gateSteps.Delay(c.GateStep, random)
	}
	c.GateStep++
	c.GateUntil, c.GateReason = now.Add(delay), o.reason
	if c.FailingSince.IsZero() {
		c.FailingSince = now
	}
}

// breakDown stops a channel until somebody acts.
func breakDown(c *notify.Channel, now time.Time, reason string) {
	c.State, c.Reason, c.BrokenAt = notify.Broken, reason, now
	if c.FailingSince.IsZero() {
		c.FailingSince = now
	}
}

// triedFor gives the delivery that d was tried in place of, nil when d was
// the oldest itself.
func (c *channel) triedFor(d *notify.Delivery) *notify.Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 1 && c.queue[1].Delivery == d {
		return c.queue[0].Delivery
	}
	return nil
}

// hasNext tells whether something waits behind d.
func (c *channel) hasNext(d *notify.Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) > 1 && c.queue[0].Delivery == d
}
