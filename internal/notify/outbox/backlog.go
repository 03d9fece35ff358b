package outbox

import (
	"context"
	"slices"
	"time"

	"outrigger/internal/notify"
)

const (
	// prefetch is how many waiting deliveries a channel reads at once: enough
	// that reading is seldom, few enough that thousands of channels are small.
	prefetch = 16
	// maxQueued bounds what commits may add in memory to a channel that falls
	// behind, and maxHanded to all of them together: an event takes some 7 KB.
	// Beyond either the rest is read from the database when its turn comes.
	maxQueued = 32
	maxHanded = 2048
)

// backlog is what waits on a channel, as far as it is in memory. Its owner's
// mu guards it.
type backlog struct {
	queue    []*queued
	asides   []*queued // set aside, the first to be tried first
	whole    bool      // the queue is everything that waits in it
	drained  bool      // the last read found nothing more
	dirty    bool      // something was added that the queue does not have
	many     bool      // more wait than go out one by one, when last counted
	lastSeen int64     // the highest delivery that was ever in the queue
}

// queued is a waiting delivery in memory.
type queued struct {
	*notify.Delivery
	handed bool // from its commit, and counted by the outbox
}

// message is what goes in one POST.
type message struct {
	deliveries []*queued // at least one
	aside      bool      // it is tried beside the queue
}

func (m *message) list() []*notify.Delivery {
	list := make([]*notify.Delivery, len(m.deliveries))
	for i, d := range m.deliveries {
		list[i] = d.Delivery
	}
	return list
}

// id names a message: a digest by its first delivery.
func (m *message) id() int64 {
	if first := m.deliveries[0]; first.Batch == 0 {
		return first.ID
	}
	return m.deliveries[0].Batch
}

func (m *message) errors5xx() int { return m.deliveries[0].Errors5xx }

// fill reads what waits when memory has none of it.
func (c *channel) fill(ctx context.Context) error {
	c.mu.Lock()
	enough := len(c.queue) > 0 || c.whole || (c.drained && !c.dirty)
	c.dirty = c.dirty && enough
	c.mu.Unlock()
	if enough {
		return nil
	}
	c.readAt = c.b.Clock()
	found, err := c.b.Queue.NextDeliveries(ctx, c.id, prefetch)
	var aside []*notify.Delivery
	if err == nil {
		aside, err = c.b.Queue.Aside(ctx, c.id)
	}
	if err == nil && !c.b.Alone { // another node may have replaced its webhook URL
		err = c.read(ctx)
	}
	many := false
	if above := c.b.DigestAbove; err == nil && above > 0 && len(found) == prefetch {
		var n int
		n, err = c.b.Queue.CountWaiting(ctx, c.id, above+1)
		many = n > above
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.dirty = true
		return err
	}
	c.forget()
	for _, d := range found {
		c.queue = append(c.queue, &queued{Delivery: d})
		c.lastSeen = max(c.lastSeen, d.ID)
	}
	for _, d := range aside {
		c.asides = append(c.asides, &queued{Delivery: d})
		c.lastSeen = max(c.lastSeen, d.ID)
	}
	c.drained, c.many = len(found) < prefetch, many
	c.whole = c.b.Alone && c.drained && !c.dirty
	return nil
}

// head returns the message whose turn it is: one that was set aside and is due,
// else the oldest. Without either it says when the next one is due, zero when
// nothing waits.
func (c *channel) head(ctx context.Context, now time.Time) (m *message, due time.Time, err error) {
	if err := c.fill(ctx); err != nil {
		return nil, due, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asides) > 0 {
		m, due = c.firstAside(), c.asides[0].DueAt
		// The one that is not known yet to be alone in its trouble lets the
		// next one go first, which will tell.
		if !now.Before(due) && (len(c.queue) == 0 || m.id() != c.standing.Suspect) {
			return m, due, nil
		}
	}
	if len(c.queue) == 0 {
		return nil, due, nil
	}
	return &message{deliveries: c.queue[:1:1]}, due, nil
}

// firstAside must be called with mu held, where there is one.
func (c *channel) firstAside() *message {
	first := c.asides[0]
	m := &message{deliveries: []*queued{first}, aside: true}
	for _, d := range c.asides[1:] {
		if first.Batch != 0 && d.Batch == first.Batch {
			m.deliveries = append(m.deliveries, d)
		}
	}
	return m
}

// forget empties the memory of what waits; mu is held.
func (c *channel) forget() {
	for _, q := range c.queue {
		c.release(q)
	}
	c.queue, c.asides, c.whole, c.drained, c.many = nil, nil, false, false, false
}

// drop takes the deliveries of a message out of memory.
func (c *channel) drop(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := func(q *queued) bool { return slices.Contains(m.deliveries, q) }
	for _, q := range c.queue {
		if of(q) {
			c.release(q)
		}
	}
	c.queue = slices.DeleteFunc(c.queue, of)
	c.asides = slices.DeleteFunc(c.asides, of)
}

// release says that a delivery is not in memory any more.
func (c *channel) release(q *queued) {
	if q.handed {
		q.handed = false
		c.b.handed.Add(-1)
	}
}
