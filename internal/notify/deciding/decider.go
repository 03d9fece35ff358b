// Package deciding settles what could not be decided before a webhook was
// acknowledged: whether a rule takes an event where that needs a mask that may
// take long, or the platform's word on who is in a group.
//
// The deliveries concerned are in the database and keep their places in their
// channels meanwhile. A node decides about those of the channels that it holds.
// That two nodes decide about the same one does no harm: the first to commit
// is right.
package deciding

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// Queue is where undecided deliveries wait: *store.Store.
type Queue interface {
	Undecided(ctx context.Context, shards []int, limit int, except []int64) ([]*notify.Delivery, error)
	Settle(ctx context.Context, settlements []*notify.Settlement) error
	FailMask(ctx context.Context, f notify.MaskFailure) error
	Rules() *notify.RuleSet
	Load(ctx context.Context) error // the rules, where others changed them
}

// Options are what a Decider needs.
type Options struct {
	Queue       Queue
	Memberships notify.Memberships // nil: no platform can be asked
	// Holding returns the shards whose channels this node works on:
	// outbox.Outbox.Holding.
	Holding func() []int
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

const (
	// pollEvery is the fallback for what no commit of this node announced: what
	// another node wrote or left behind.
	pollEvery = time.Second
	// batch is how many deliveries are read and committed at once.
	batch = 100
	// askTimeout bounds what one delivery waits for the platform, well under
	// notify.DecideWithin.
	askTimeout = 30 * time.Second
	// asksAtOnce bounds the requests to platforms. Most are answered from what
	// is remembered.
	asksAtOnce = 16
	// maxAsking bounds the deliveries in memory that wait for a platform.
	maxAsking = 1000
)

// Decider decides about deliveries. Start it after the rules are loaded.
type Decider struct {
	Options
	metrics *metrics

	work.PeriodicWorker                // wake it when something is undecided
	running             sync.WaitGroup // questions to platforms
	slots               chan struct{}  // of requests to platforms
	masks               sync.Mutex     // held while a mask runs, so that masks take one core at most

	mu     sync.Mutex
	asking map[int64]bool // deliveries for which a platform is being asked
}

// New makes a Decider; nothing is decided before Start.
func New(o Options) *Decider {
	if o.Memberships == nil {
		o.Memberships = notify.NoMemberships{}
	}
	return &Decider{
		Options: o, metrics: newMetrics(o.Metrics),
		slots: make(chan struct{}, asksAtOnce), asking: make(map[int64]bool),
	}
}

// Start begins to decide.
func (d *Decider) Start(ctx context.Context) {
	failing := false
	d.PeriodicWorker.Start(ctx, 0, func(ctx context.Context) time.Duration {
		n, err := d.runOnce(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			d.Log.Error("undecided deliveries could not be settled; will try on", "error", err)
		}
		if failing = err != nil; n > 0 && !failing {
			return 0 // there may be more
		}
		return pollEvery
	})
}

// Stop ends it. What is undecided waits for the next start, or another node.
func (d *Decider) Stop() {
	d.PeriodicWorker.Stop()
	d.running.Wait()
}

// Enqueued takes note of deliveries right after their commit. It does not block.
func (d *Decider) Enqueued(deliveries []*notify.Delivery) {
	for _, one := range deliveries {
		if len(one.Undecided) > 0 {
			d.Wake()
			return
		}
	}
}

// runOnce settles the oldest undecided deliveries as far as that needs no
// network, leaves the others to ask, and says how many it looked at.
func (d *Decider) runOnce(ctx context.Context) (int, error) {
	if err := d.Queue.Load(ctx); err != nil {
		return 0, err
	}
	except := d.inMemory()
	if len(except) >= maxAsking {
		return 0, nil
	}
	found, err := d.Queue.Undecided(ctx, d.Holding(), batch, except)
	if err != nil {
		return 0, err
	}
	var settlements []*notify.Settlement
	for _, delivery := range found {
		c := newCase(d, delivery)
		settled, err := c.judge(ctx, nil)
		if err != nil {
			return 0, err
		}
		if len(settled.Decisions) > 0 {
			settlements = append(settlements, settled)
		}
		if len(c.open) > 0 {
			d.ask(ctx, c)
		}
	}
	if len(settlements) > 0 {
		err = d.settle(ctx, settlements)
	}
	return len(found), err
}

func (d *Decider) settle(ctx context.Context, settlements []*notify.Settlement) error {
	if err := d.Queue.Settle(ctx, settlements); err != nil {
		return err
	}
	d.metrics.count(settlements)
	return nil
}

func (d *Decider) inMemory() (ids []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.asking {
		ids = append(ids, id)
	}
	return ids
}

// ask decides about what is open of a case with the platform's answers, while
// other deliveries are decided.
func (d *Decider) ask(ctx context.Context, c *openCase) {
	d.mu.Lock()
	d.asking[c.delivery.ID] = true
	d.mu.Unlock()
	d.running.Go(func() {
		defer func() {
			d.mu.Lock()
			delete(d.asking, c.delivery.ID)
			d.mu.Unlock()
		}()
		limited, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		select {
		case d.slots <- struct{}{}:
			defer func() { <-d.slots }()
		case <-limited.Done():
			return // it is still undecided, and found again
		}
		settled, err := c.judge(limited, d.Memberships)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = d.settle(ctx, []*notify.Settlement{settled})
		}
		if err != nil {
			d.Log.Error("an undecided delivery could not be settled; will try on", "delivery", c.delivery.ID, "error", err)
		}
	})
}
