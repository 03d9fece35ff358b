package outbox

import (
	"context"
	"slices"

	"outrigger/internal/notify"
)

// maxGathered is how many waiting deliveries are looked at for a digest: its
// 50 lines, and among those of one that is sent again what was put back into
// the queue by hand meanwhile.
const maxGathered = 100

// gather makes a digest of the message and of what waits behind it, where too
// many wait. What was sent in a digest before goes in the same one again.
func (c *channel) gather(ctx context.Context, m *message) (*message, error) {
	first := m.deliveries[0]
	if m.aside || first.Batch == 0 && !c.tooMany() {
		return m, nil
	}
	found, err := c.b.Queue.NextDeliveries(ctx, c.id, maxGathered)
	if err != nil {
		return nil, err
	}
	rules := c.b.Queue.Rules()
	var run []*notify.Delivery
	for _, d := range found {
		same := d.State == notify.Waiting && d.Batch == first.Batch && d.Format == first.Format && d.Event != nil && rules.On(d.Rules, c.id)
		if same {
			run = append(run, d)
		} else if first.Batch == 0 { // no gaps: what is behind one stays behind it
			break
		}
	}
	if len(run) < 2 || run[0].ID != first.ID {
		return m, nil
	}
	if first.Batch == 0 {
		if _, taken := c.b.Digest(nil, eventsOf(run), first.Format); taken < len(run) {
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

// tooMany tells whether more wait than go out one by one.
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

// write appends what is posted for the message.
func (b *Outbox) write(to []byte, m *message) []byte {
	first := m.deliveries[0]
	if len(m.deliveries) == 1 {
		return b.Message(to, first.Noted(), first.Format)
	}
	body, _ := b.Digest(to, eventsOf(m.list()), first.Format)
	return body
}

func eventsOf(deliveries []*notify.Delivery) []*notify.Event {
	events := make([]*notify.Event, len(deliveries))
	for i, d := range deliveries {
		events[i] = d.Event
	}
	return events
}
