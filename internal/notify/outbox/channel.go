package outbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
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
	// forgetAfter is the shortest rest for which a channel keeps nothing in
	// memory: longer than the pace makes anybody wait.
	forgetAfter = 3 * time.Second
)

// channel works through what waits on one webhook URL, one at a time. Its
// goroutine exists only while there is something to do now; a closed gate is
// a timer.
type channel struct {
	b     *Outbox
	shard *shard
	id    int64
	pace  *rate.Limiter

	mu       sync.Mutex
	queue    []*queued
	whole    bool  // the queue is everything that waits
	drained  bool  // the last read found nothing
	dirty    bool  // something was added that the queue does not have
	stale    bool  // the standing and the queue must be read again
	lastSeen int64 // the highest delivery that was ever in the queue
	running  bool
	timer    *time.Timer

	// Only the goroutine touches these.
	loaded   bool
	standing notify.Channel
	url      secret.Value
	probe    bool // the one behind the oldest is to be tried next
}

// queued is a waiting delivery in memory. generation is that of the rules
// when it was read: an older one may have been moved to another channel.
type queued struct {
	*notify.Delivery
	generation int64
	handed     bool // from its commit, and counted by the outbox
}

func newChannel(b *Outbox, s *shard, id int64) *channel {
	return &channel{b: b, shard: s, id: id, pace: rate.NewLimiter(rate.Limit(b.Rate), b.Burst)}
}

// enqueue takes a delivery right after its commit.
func (c *channel) enqueue(d *notify.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.b.Alone || !c.whole || len(c.queue) >= maxQueued || c.b.handed.Load() >= maxHanded:
		c.dirty, c.whole = true, false
	case d.ID > c.lastSeen:
		c.queue = append(c.queue, &queued{Delivery: d, generation: c.b.Queue.Rules().Generation, handed: true})
		c.lastSeen = d.ID
		c.b.handed.Add(1)
	}
	if c.timer == nil {
		c.start()
	}
}

// poke says that something waits, without saying what.
func (c *channel) poke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running || c.timer != nil {
		return
	}
	c.dirty, c.whole, c.stale = true, false, true
	c.start()
}

// reload has everything read again, a closed gate and a broken state included.
func (c *channel) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty, c.whole, c.stale = true, false, true
	c.stopTimer()
	c.start()
}

// end is for a shard that was given back: nothing starts any more.
func (c *channel) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopTimer()
	c.forget()
}

func (c *channel) stopTimer() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// start must be called with mu held.
func (c *channel) start() {
	if c.running || c.shard.ctx.Err() != nil {
		return
	}
	c.running = true
	c.shard.running.Go(c.run)
}

func (c *channel) run() {
	ctx := c.shard.ctx
	for {
		d, pause := c.next(ctx)
		if d != nil {
			c.try(ctx, d)
			continue
		}
		if c.rest(ctx, pause) {
			return
		}
	}
}

// rest ends the goroutine, to be started again by a timer after pause or by
// new work. It is false when new work came meanwhile.
func (c *channel) rest(ctx context.Context, pause time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case c.stale:
		return false
	case pause > 0:
		if pause >= forgetAfter {
			c.forget()
			c.dirty = true
		}
		c.timer = time.AfterFunc(pause, c.timeout)
	case c.standing.State == notify.Broken: // until somebody opens it
	case c.dirty || len(c.queue) > 0:
		return false
	}
	c.running = false
	return true
}

func (c *channel) timeout() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = nil
	c.start()
}

// retryRead is how long a channel waits when the database did not answer.
const retryRead = time.Second

// next gives the delivery to try now; or how long to wait before there may
// be one; or neither when nothing waits.
func (c *channel) next(ctx context.Context) (*queued, time.Duration) {
	if ctx.Err() != nil {
		return nil, 0
	}
	if err := c.load(ctx); err != nil {
		return nil, retryRead
	}
	now := c.b.Clock()
	if c.standing.State == notify.Broken {
		return nil, 0
	}
	if wait := c.standing.GateUntil.Sub(now); wait > 0 {
		return nil, wait
	}
	if wait := c.b.paused(now); wait > 0 {
		return nil, wait
	}
	d, err := c.head(ctx)
	if err != nil {
		return nil, retryRead
	}
	if d == nil {
		return nil, 0
	}
	if !c.shard.lease.Good(sendTimeout + commitMargin) {
		return nil, retryRead
	}
	turn := c.pace.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		turn.CancelAt(now)
		return nil, wait
	}
	return d, 0
}

// load reads the channel's standing and URL, at first and when it is stale.
func (c *channel) load(ctx context.Context) error {
	c.mu.Lock()
	fresh := c.loaded && !c.stale
	c.stale = false
	if !fresh {
		c.forget()
	}
	c.mu.Unlock()
	if fresh {
		return nil
	}
	standing, url, err := c.b.Queue.Channel(ctx, c.id)
	if err != nil {
		c.loaded = false
		return err
	}
	c.standing, c.url, c.loaded = standing, url, true
	return nil
}

// head gives the delivery whose turn it is: the oldest, or the one behind it
// where that is to tell poison from an outage.
func (c *channel) head(ctx context.Context) (*queued, error) {
	if err := c.fill(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil, nil
	}
	if c.probe && len(c.queue) > 1 {
		return c.queue[1], nil
	}
	return c.queue[0], nil
}

// fill reads what waits when memory has none of it.
func (c *channel) fill(ctx context.Context) error {
	c.mu.Lock()
	enough := len(c.queue) > 1 || c.whole || (c.drained && !c.dirty)
	if len(c.queue) == 1 && c.queue[0].Errors5xx < setAsideAfter-1 {
		enough = true
	}
	c.dirty = c.dirty && enough
	c.mu.Unlock()
	if enough {
		return nil
	}
	generation := c.b.Queue.Rules().Generation
	found, err := c.b.Queue.Heads(ctx, c.id, prefetch)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.dirty = true
		return err
	}
	c.forget()
	for _, d := range found {
		c.queue = append(c.queue, &queued{Delivery: d, generation: generation})
		c.lastSeen = max(c.lastSeen, d.ID)
	}
	c.drained = len(found) < prefetch
	c.whole = c.b.Alone && c.drained && !c.dirty
	return nil
}

// forget empties the memory of what waits; mu is held.
func (c *channel) forget() {
	for _, q := range c.queue {
		if q.handed {
			c.b.handed.Add(-1)
		}
	}
	c.queue, c.whole, c.drained = nil, false, false
}

// drop takes a delivery out of memory.
func (c *channel) drop(d *notify.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.queue {
		if q.Delivery == d {
			if q.handed {
				c.b.handed.Add(-1)
			}
			c.queue = slices.Delete(c.queue, i, i+1)
			return
		}
	}
}
