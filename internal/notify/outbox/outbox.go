// Package outbox carries deliveries to their channels: in order within a
// channel, no channel waiting for another, at least once.
//
// Channels are divided over the nodes by shard; a node works on the channels
// of the shards whose lease it holds. A channel has one message in flight,
// and its next one is sent when the result of the last is committed, so that
// a crash repeats at most one message a channel.
package outbox

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// Queue is where deliveries wait: *store.Store.
type Queue interface {
	NextDeliveries(ctx context.Context, channelID int64, limit int) ([]*notify.Delivery, error)
	Aside(ctx context.Context, channelID int64) ([]*notify.Delivery, error)
	Waits(ctx context.Context, d *notify.Delivery, fingerprint string) (bool, error)
	Channel(ctx context.Context, id int64) (notify.Channel, secret.Value, error)
	CountWaiting(ctx context.Context, channelID int64, max int) (int, error)
	Together(ctx context.Context, d *notify.Delivery, limit int) ([]*notify.Delivery, error)
	BindDigest(ctx context.Context, lease string, fence int64, deliveries []*notify.Delivery) error
	Expire(ctx context.Context, shards []int, l notify.Limits) (int, error)
	ReleaseUndecided(ctx context.Context, shards []int, age time.Duration) (int, error)
	Backlog(ctx context.Context, shards []int) (notify.Backlog, error)
	SaveResult(ctx context.Context, r *notify.Result) error
	Pending(ctx context.Context, shards []int) ([]notify.Pending, error)
	Rules() *notify.RuleSet
	Load(ctx context.Context) error // the rules, where others changed them
}

// Lease is what a shard is held under: *db.Lease.
type Lease interface {
	Name() string
	Fence() int64
	Good(d time.Duration) bool
	Lost() <-chan struct{}
}

// Options are what an Outbox needs.
type Options struct {
	Queue  Queue
	Leases *db.Leases
	// Members says whether this node takes part, and how many do.
	Members func(context.Context) (self, active int, err error)
	Client  egress.Poster // for webhook URLs that users give: egress.Client.Webhook
	// ByProxy reports whether requests to a URL go by the proxy; nil: all may.
	ByProxy func(url string) bool
	// Message writes a delivery's message, in its format.
	Message func(ctx context.Context, d *notify.Delivery) []byte
	// Digest writes one message about as many of the deliveries, from the first
	// on, as have room in it, in their format, and says how many they are.
	Digest func(ctx context.Context, deliveries []*notify.Delivery) (message []byte, taken int)

	// Alone says that no other node writes deliveries, so that new ones may
	// be taken from their commit without reading them back.
	Alone bool

	Rate  float64 // messages a second and channel
	Burst int     // messages that may go at once after a quiet time
	// DigestAbove is how many messages may wait on a channel before they go
	// out as digests; 0: they never do.
	DigestAbove int
	Limits      notify.Limits

	Clock   func() time.Time
	Random  func() float64 // in [0, 1), for jitter
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Outbox delivers. Start it after the rules are loaded.
type Outbox struct {
	Options
	metrics *metrics
	shards  *work.Shards
	stop    context.CancelFunc
	polling sync.WaitGroup
	handed  atomic.Int64 // deliveries in memory that came from their commit
	proxy   proxyPause
	gained  work.Signal // wakes the poll: there are fresh shards

	mu    sync.Mutex
	held  [notify.Shards]*shard
	fresh []int // shards that this node got since the last look
}

// shard is the part of the channels that this node holds under one lease.
type shard struct {
	ctx     context.Context
	lost    context.CancelFunc // ends ctx: another node has the shard
	lease   Lease
	since   time.Time // when this node got it
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	channels map[int64]*channel
}

// New makes an Outbox; nothing is sent before Start.
func New(o Options) *Outbox {
	b := &Outbox{Options: o, metrics: newMetrics(o.Metrics), gained: work.NewSignal()}
	if o.Metrics != nil {
		o.Metrics.MustRegister(&backlogMetrics{b: b}, b.proxyGauge())
	}
	b.shards = work.NewShards("outbox", notify.Shards, o.Leases, o.Members,
		func(ctx context.Context, n int, lease *db.Lease) { b.runShard(ctx, n, lease) })
	b.shards.Log = o.Log
	return b
}

// Start begins to deliver.
func (b *Outbox) Start(ctx context.Context) error {
	if err := b.shards.Start(ctx); err != nil {
		return err
	}
	polling, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	b.polling.Go(func() { b.poll(polling) })
	return nil
}

// Stop lets what is in flight finish, at most its 10 s, and gives the shards
// back.
func (b *Outbox) Stop() {
	if b.stop != nil {
		b.stop()
	}
	b.polling.Wait()
	b.shards.Stop()
}

// runShard works on one shard until ctx ends and nothing is in flight.
func (b *Outbox) runShard(ctx context.Context, n int, lease Lease) {
	ctx, lost := context.WithCancel(ctx)
	defer lost()
	s := &shard{ctx: ctx, lost: lost, lease: lease, since: b.Clock(), channels: make(map[int64]*channel)}
	b.mu.Lock()
	b.held[n] = s
	b.fresh = append(b.fresh, n)
	b.mu.Unlock()
	b.gained.Set()
	<-ctx.Done()
	b.mu.Lock()
	b.held[n] = nil
	b.mu.Unlock()
	s.close()
	s.running.Wait()
}

func (s *shard) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.channels {
		c.end()
	}
}

// channel returns the shard's channel, nil when the shard has been given back.
func (s *shard) channel(b *Outbox, id int64) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	c := s.channels[id]
	if c == nil {
		c = newChannel(b, s, id)
		s.channels[id] = c
	}
	return c
}

func (b *Outbox) find(channelID int64) *channel {
	b.mu.Lock()
	s := b.held[notify.ShardOf(channelID)]
	b.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.channel(b, channelID)
}

// Enqueued takes deliveries right after their commit. It does not block.
func (b *Outbox) Enqueued(deliveries []*notify.Delivery) {
	for _, d := range deliveries {
		if !d.HeldUntil.IsZero() { // it is found when its time has come
			continue
		}
		if c := b.find(d.ChannelID); c != nil {
			c.enqueue(d)
		}
	}
}

// Moved says that what waits on a channel changed otherwise than by new
// deliveries, or that the channel was opened again. An administrator may have
// done so after mending the proxy, which is asked again then.
func (b *Outbox) Moved(channelID int64) {
	b.proxy.askAgain(b.Clock())
	if c := b.find(channelID); c != nil {
		c.reload()
	}
}

// Held is how many shards this node works on: 0 when nothing of it is in
// flight any more.
func (b *Outbox) Held() int { return b.shards.Held() }

// Wake has this node's share of the shards looked at now: the nodes changed.
func (b *Outbox) Wake() { b.shards.Wake() }
