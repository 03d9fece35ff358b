package outbox

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// forgetAfter is the shortest rest for which a channel keeps nothing in
// memory: longer than the pace holds up a message.
const forgetAfter = 3 * time.Second

// channel works through what waits on one webhook URL, one at a time. Its
// goroutine exists only while there is something to do now; a closed gate is
// a timer.
type channel struct {
	b     *Outbox
	shard *shard
	id    int64
	pace  *rate.Limiter

	mu sync.Mutex
	backlog
	stale   bool // the standing and the backlog must be read again
	running bool
	timer   *time.Timer
	idle    bool      // the timer is for what was set aside: new work need not wait for it
	gate    time.Time // of the standing, while the timer runs

	// Only the goroutine touches these.
	loaded   bool
	readAt   time.Time // when the backlog was read
	unread   bool      // the last load failed, and that was said
	standing notify.Channel
	url      secret.Value
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
	if c.timer == nil || c.idle {
		c.stopTimer()
		c.start()
	}
}

// wake says that something waits, and until when the gate is closed: another
// node may have opened it.
func (c *channel) wake(p notify.Pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Released { // they are not in memory, whatever is
		c.dirty, c.whole = true, false
	}
	// The database keeps microseconds.
	opened := p.GateUntil.Before(c.gate.Truncate(time.Microsecond))
	if c.running || c.timer != nil && !opened && !(c.idle && p.Queued) {
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
		c.timer, c.idle = nil, false
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
		m, pause := c.next(ctx)
		if m != nil {
			c.try(ctx, m)
			continue
		}
		if c.rest(ctx, pause) {
			return
		}
	}
}

// pause is why a channel has nothing to do now.
type pause struct {
	time time.Duration
	idle bool // only for what was set aside
}

// rest ends the goroutine, to be started again by a timer after the pause or
// by new work. It is false when new work came meanwhile.
func (c *channel) rest(ctx context.Context, p pause) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case c.stale:
		return false
	case p.idle && (c.dirty || len(c.queue) > 0): // new work came
		return false
	case p.time > 0:
		if p.time >= forgetAfter && !p.idle {
			c.forget()
			c.dirty = true
		}
		c.sleep(p)
	case c.dirty || len(c.queue) > 0:
		return false
	}
	c.running = false
	return true
}

// sleep must be called with mu held. A timer that fires just as it is stopped
// finds that it is not the channel's any more.
func (c *channel) sleep(p pause) {
	var t *time.Timer
	t = time.AfterFunc(p.time, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.timer == t {
			c.timer, c.idle = nil, false
			c.start()
		}
	})
	c.timer, c.idle, c.gate = t, p.idle, c.standing.GateUntil
}

// retryRead is how long a channel waits when the database did not answer.
const retryRead = time.Second

// next returns the message to try now; or how long to wait before there may be
// one; or neither when nothing waits.
func (c *channel) next(ctx context.Context) (*message, pause) {
	if ctx.Err() != nil {
		return nil, pause{}
	}
	if err := c.load(ctx); err != nil {
		return nil, pause{time: retryRead}
	}
	now := c.b.Clock()
	wait := c.standing.GateUntil.Sub(now)
	if resting := c.b.proxy.wait(now); resting > max(wait, 0) && c.byProxy() {
		wait = resting
	}
	if wait > 0 {
		return nil, pause{time: wait}
	}
	m, due, err := c.head(ctx, now)
	switch {
	case err != nil:
		return nil, pause{time: retryRead}
	case m == nil && due.IsZero():
		return nil, pause{}
	case m == nil:
		return nil, pause{time: max(due.Sub(now), 1), idle: true}
	}
	if m.deliveries[0].State == notify.Deciding {
		return nil, pause{time: untilDecided(due.Sub(now))}
	}
	wanted, err := c.wanted(ctx, m.deliveries[0])
	if err != nil || !c.shard.lease.Good(sendTimeout+commitMargin) {
		return nil, pause{time: retryRead}
	}
	if !wanted { // and takes no turn
		return m, pause{}
	}
	if c.url.IsZero() { // not read yet since a rule has it again
		return nil, pause{time: retryRead}
	}
	turn := c.pace.ReserveN(now, 1)
	if wait := turn.DelayFrom(now); wait > 0 {
		turn.CancelAt(now)
		return nil, pause{time: wait}
	}
	if m, err = c.gather(ctx, m); err != nil {
		return nil, pause{time: retryRead}
	}
	return m, pause{}
}

// lookAgain is how long a channel waits whose next message is undecided, unless
// it is told. What another node decided it finds then: it keeps nothing in memory
// meanwhile.
const lookAgain = forgetAfter + 2*time.Second

// untilDecided is how long to wait for a decision where what was set aside is
// due in a while, which is not positive where there is none.
func untilDecided(due time.Duration) time.Duration {
	if due > 0 {
		return min(due, lookAgain)
	}
	return lookAgain
}

// wanted reports whether the delivery is to be sent. That no rule wants it is
// said only by rules that are not older than it: another node may have saved
// one and taken its first event.
func (c *channel) wanted(ctx context.Context, d *queued) (bool, error) {
	if d.Event == nil {
		return false, nil
	}
	if c.b.Queue.Rules().Enabled(d.Delivery) {
		return true, nil
	}
	if err := c.b.Queue.Load(ctx); err != nil {
		return false, err
	}
	return c.b.Queue.Rules().Enabled(d.Delivery), nil
}

// byProxy reports whether the channel's messages go by the proxy. It is asked only
// while that lets nothing through.
func (c *channel) byProxy() bool { return c.b.ByProxy == nil || c.b.ByProxy(c.url.Reveal()) }

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
	return c.read(ctx)
}

// read reads the channel's standing and URL.
func (c *channel) read(ctx context.Context) error {
	standing, url, err := c.b.Queue.Channel(ctx, c.id)
	if err != nil {
		c.loaded = false
		if !c.unread && !fault.Is(err, fault.Unavailable) && ctx.Err() == nil {
			c.unread = true
			c.b.Log.Error("a channel cannot be read; its messages wait", "channel", c.id, "error", err)
		}
		return err
	}
	c.standing, c.url = standing, url
	// A channel that no rule uses has no URL; the next rule of the same URL
	// brings it back.
	c.loaded, c.unread = !url.IsZero(), false
	return nil
}
