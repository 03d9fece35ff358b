package outbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"outrigger/internal/fault"
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
	gate     time.Time // of the standing, while the timer runs

	// Only the goroutine touches these.
	loaded   bool
	unread   bool // the last load failed, and that was said
	standing notify.Channel
	url      secret.Value
	probe    int64 // the delivery whose next is to be tried in its place; 0: none
}

// queued is a waiting delivery in memory.
type queued struct {
	*notify.Delivery
	handed bool // from its commit, and counted by the outbox
}

func newChannel(b *Outbox, s *shard, id int64) *channel {
	return &channel{b: b, shard: s, id: id, pace: rate.NewLimiter(rate.Limit(b.Rate), b.Burst)}
}

// enqueue takes a delivery right after its commit.
func (c *channel) enqueue(d *notify.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// One that the queue may have had comes by reading, which knows: ids are
	// given again when retention has deleted the last ones.
	if c.b.Alone && c.whole && d.ID > c.lastSeen && len(c.queue) < maxQueued && c.b.handed.Load() < maxHanded {
		c.queue = append(c.queue, &queued{Delivery: d, handed: true})
		c.lastSeen = d.ID
		c.b.handed.Add(1)
	} else {
		c.dirty, c.whole = true, false
	}
	if c.timer == nil {
		c.start()
	}
}

// poke says that something waits, without saying what, and until when the
// gate is closed: another node may have opened it.
func (c *channel) poke(gateUntil time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The database keeps microseconds.
	if c.running || c.timer != nil && !gateUntil.Before(c.gate.Truncate(time.Microsecond)) {
		return
	}
	c.again()
}

// reload has everything read again, a closed gate and a broken state included.
func (c *channel) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again()
}

// again must be called with mu held.
func (c *channel) again() {
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
		c.sleep(pause)
	case c.standing.State == notify.Broken: // until somebody opens it
		c.forget()
		c.dirty = true
	case c.dirty || len(c.queue) > 0:
		return false
	}
	c.running = false
	return true
}

// sleep must be called with mu held. A timer that fires just as it is stopped
// finds that it is not the channel's any more.
func (c *channel) sleep(pause time.Duration) {
	var t *time.Timer
	t = time.AfterFunc(pause, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.timer == t {
			c.timer = nil
			c.start()
		}
	})
	c.timer, c.gate = t, c.standing.GateUntil
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
	d, err := c.head(ctx)
	if err != nil {
		return nil, retryRead
	}
	if d == nil {
		return nil, 0
	}
	wanted, err := c.wanted(ctx, d)
	if err != nil || !c.shard.lease.Good(sendTimeout+commitMargin) {
		return nil, retryRead
	}
	if !wanted { // and takes no turn
		return d, 0
	}
	if c.url.IsZero() { // not read yet since a rule has it again
		return nil, retryRead
	}
	turn := c.pace.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		turn.CancelAt(now)
		return nil, wait
	}
	return d, 0
}

// wanted tells whether the delivery is to be sent. That no rule wants it is
// said only by rules that are not older than it: another node may have saved
// one and taken its first event.
func (c *channel) wanted(ctx context.Context, d *queued) (bool, error) {
	if d.Event == nil {
		return false, nil
	}
	if c.b.Queue.Rules().Enabled(d.Rules) {
		return true, nil
	}
	if err := c.b.Queue.Load(ctx); err != nil {
		return false, err
	}
	return c.b.Queue.Rules().Enabled(d.Rules), nil
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
		if !c.unread && !fault.Is(err, fault.Unavailable) && ctx.Err() == nil {
			c.unread = true
			c.b.Log.Error("a channel cannot be read; its messages wait", "channel", c.id, "cause", err)
		}
		return err
	}
	c.standing, c.url = standing, url
	// A channel that no rule uses has no URL; the next rule of the same URL
	// brings it back.
	c.loaded, c.unread = !url.IsZero(), false
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
	if len(c.queue) > 1 && c.queue[0].ID == c.probe {
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
	found, err := c.b.Queue.Heads(ctx, c.id, prefetch)
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
