package outbox

import (
	"context"
	"slices"

	"outrigger/internal/notify"
)

// maxGathered is how many waiting deliveries are looked at for a digest, which
// has 50 lines; of one that is sent again some may have ended meanwhile.
const maxGathered = 100

// gather makes a digest of the message and of what belongs to it: what it was
// sent with before, or what quiet hours held with it, or, where too many wait,
// what waits behind it.
func (c *channel) gather(ctx context.Context, m *message) (*message, error) {
	first := m.deliveries[0]
	var run []*notify.Delivery
	var err error
	switch {
	case m.aside:
		return m, nil
	case first.Batch != 0 || !first.HeldUntil.IsZero():
		run, err = c.together(ctx, first.Delivery)
	case c.tooMany():
		run, err = c.behind(ctx, first.Delivery)
	}
	if err != nil {
		return nil, err
	}
	if len(run) < 2 || run[0].ID != first.ID {
		return m, nil
	}
	if first.Batch == 0 {
		if _, taken := c.b.Digest(ctx, run); taken < len(run) {
			run = run[:taken]
		}
		if len(run) < 2 {
			return m, nil
		}
		if err := c.b.Queue.BindDigest(ctx, c.shard.lease.Name(), c.shard.lease.Fence(), run); err != nil {
			c.mu.Lock()
			c.stale = true
			c.mu.Unlock()
			return nil, err
		}
	}
	return c.digest(run, run[0].ID), nil
}

// together returns what goes out with a delivery that is bound to a digest, or
// that quiet hours held.
func (c *channel) together(ctx context.Context, first *notify.Delivery) ([]*notify.Delivery, error) {
	found, err := c.b.Queue.Together(ctx, first, maxGathered)
	if err != nil {
		return nil, err
	}
	rules := c.b.Queue.Rules()
	return slices.DeleteFunc(found, func(d *notify.Delivery) bool { return !c.fits(d, first, rules) }), nil
}

// behind returns a delivery and those that wait behind it, up to the first that
// would need a message of its own: what is behind one stays behind it.
func (c *channel) behind(ctx context.Context, first *notify.Delivery) ([]*notify.Delivery, error) {
	found, err := c.b.Queue.NextDeliveries(ctx, c.id, maxGathered)
	if err != nil {
		return nil, err
	}
	rules := c.b.Queue.Rules()
	end := slices.IndexFunc(found, func(d *notify.Delivery) bool {
		return !c.fits(d, first, rules) || d.Batch != 0 || !d.HeldUntil.IsZero()
	})
	if end >= 0 {
		found = found[:end]
	}
	return found, nil
}

// fits reports whether a delivery can be in one digest with another.
func (c *channel) fits(d, with *notify.Delivery, rules *notify.RuleSet) bool {
	return d.State == notify.Waiting && d.Format == with.Format && d.Event != nil && rules.On(d)
}

// tooMany reports whether more wait than go out one by one.
func (c *channel) tooMany() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.many || c.b.DigestAbove > 0 && len(c.queue) > c.b.DigestAbove
}

// digest puts the members of a digest in place of what is in memory.
func (c *channel) digest(members []*notify.Delivery, id int64) *message {
	m := &message{}
	for _, d := range members {
		if d.Batch == 0 {
			d.Batch = id
		}
		m.deliveries = append(m.deliveries, &queued{Delivery: d})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.queue {
		c.release(q)
	}
	c.queue = slices.Clone(m.deliveries)
	c.whole, c.drained, c.dirty = false, false, true
	return m
}

// write makes what is posted for the message.
func (b *Outbox) write(ctx context.Context, m *message) []byte {
	if len(m.deliveries) == 1 {
		return b.Message(ctx, m.deliveries[0].Delivery)
	}
	body, _ := b.Digest(ctx, m.list())
	return body
}
