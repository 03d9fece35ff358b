package outbox

import (
	"cmp"
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// retrySave is the pause between tries to commit a result that the database
// did not take; the channel sends nothing meanwhile.
const retrySave = time.Second

// save commits a result and lets it take effect here. While it cannot be
// committed it stays in memory and is tried again, so that a failing disk is
// not a flood of repeated messages. ctx does not end.
func (c *channel) save(ctx context.Context, m *message, r *notify.Result) {
	r.Lease, r.Fence = c.shard.lease.Name(), c.shard.lease.Fence()
	said := false
	for {
		err := c.b.Queue.SaveResult(ctx, r)
		if err == nil {
			c.apply(m, r)
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
			c.b.Log.Error("the result of a delivery could not be kept; its channel waits", "channel", c.id, "fingerprint", c.standing.Fingerprint,
				"delivery", m.id(), "error", err)
			said = true
		}
		select {
		case <-time.After(retrySave):
		case <-c.shard.lease.Lost():
			return
		}
	}
}

// apply has a committed result take effect here.
func (c *channel) apply(m *message, r *notify.Result) {
	if r.Channel != nil {
		c.logChange(r.Channel)
		c.standing = *r.Channel
	}
	if r.State == notify.Failed {
		c.b.Log.Warn("message failed and is not tried again", "delivery", m.deliveries[0].ID, "deliveries", len(m.deliveries),
			"channel", c.id, "fingerprint", c.standing.Fingerprint, "reason", cmp.Or(r.Inside, r.Reason))
	}
	switch {
	case r.State != notify.Waiting:
		c.drop(m)
	case r.Back != 0 || r.Aside:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forget() // what is aside, and what is not, is read anew
		c.dirty = true
	case r.Attempt != nil:
		for _, d := range m.deliveries {
			d.Attempts, d.Errors5xx = r.Counters(d.Delivery)
		}
	}
}

// logChange logs what an administrator wants to know of a channel: that it broke,
// that it began to fail, that it works again. Never each attempt.
func (c *channel) logChange(now *notify.Channel) {
	was := &c.standing
	log := c.b.Log.With("channel", c.id, "fingerprint", c.standing.Fingerprint, "webhook", c.standing.Mask)
	switch {
	case now.State == notify.Broken && was.State != notify.Broken:
		c.b.metrics.broken.Inc()
		log.Warn("channel is broken; its messages wait, and one is tried from time to time", "reason", cmp.Or(now.Inside, now.Reason), "next",
			now.GateUntil)
	case !failing(now) && failing(was):
		log.Info("channel takes messages again", "after", now.LastOKAt.Sub(was.FailingSince).Round(time.Second))
	case failing(now) && !failing(was):
		log.Warn("channel does not take messages; they wait", "reason", cmp.Or(now.GateInside, now.GateReason), "until", now.GateUntil)
	}
}

func failing(c *notify.Channel) bool { return c.GateStep > 0 || c.Refused > 0 }
