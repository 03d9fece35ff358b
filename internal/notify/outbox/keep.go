package outbox

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// retryKeep is the pause between tries to commit a result that the database
// did not take; the channel sends nothing meanwhile.
const retryKeep = time.Second

// keep commits a result and lets it take effect here. While it cannot be
// committed it stays in memory and is tried again, so that a failing disk is
// not a flood of repeated messages.
func (c *channel) keep(ctx context.Context, r *notify.Result) {
	r.Lease, r.Fence = c.shard.lease.Name(), c.shard.lease.Fence()
	ctx = context.WithoutCancel(ctx)
	said := false
	for {
		err := c.b.Queue.Keep(ctx, r)
		if err == nil {
			c.kept(r)
			return
		}
		// Another node holds the shard, and will send it again: the one
		// repetition that at-least-once allows.
		if fault.Is(err, fault.Conflict) {
			c.shard.lost() // whatever the lease says here
			return
		}
		if !c.shard.lease.Good(0) {
			return
		}
		if !said {
			c.b.Log.Error("the result of a delivery could not be kept; its channel waits", "channel", c.id, "delivery", r.Delivery.ID, "cause", err)
			said = true
		}
		select {
		case <-time.After(retryKeep):
		case <-c.shard.lease.Lost():
			return
		}
	}
}

func (c *channel) kept(r *notify.Result) {
	c.b.metrics.kept(r)
	if r.Channel != nil {
		c.say(r.Channel)
		c.standing = *r.Channel
	}
	if r.SetAside != nil {
		c.drop(r.SetAside)
	}
	if r.State != notify.Waiting {
		c.drop(r.Delivery)
		return
	}
	if r.Attempt != nil {
		r.Delivery.Attempts++
		if r.CountsAgainst() {
			r.Delivery.Errors5xx++
		}
	}
}

// say logs what an administrator wants to know of a channel: that it broke,
// that it began to fail, that it works again. Never each attempt.
func (c *channel) say(now *notify.Channel) {
	was := &c.standing
	log := c.b.Log.With("channel", c.id, "webhook", c.standing.Mask)
	switch {
	case now.State == notify.Broken && was.State != notify.Broken:
		log.Warn("channel is broken; its messages wait", "reason", now.Reason)
	case now.GateStep > 0 && was.GateStep == 0:
		log.Warn("channel does not take messages; they wait", "reason", now.GateReason, "until", now.GateUntil)
	case now.GateStep == 0 && was.GateStep > 0:
		log.Info("channel takes messages again", "after", now.LastOKAt.Sub(was.FailingSince).Round(time.Second))
	}
}
