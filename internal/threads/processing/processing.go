// Package processing is the worker of the cloud side: it stages files, processes
// the migration, restores backups and compares the target with the data, in the
// server and under leases, so that a closed browser changes nothing and another
// node goes on where one died.
//
// There are two leases, one for staging and one for everything that asks the
// target, so that the files of the next migration can be looked at while one
// is processed.
package processing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
	"outrigger/internal/work"
)

// Options are what a Processor needs.
type Options struct {
	Store  *store.Store
	Leases *db.Leases
	// Members says whether this node takes part, and how many do.
	Members func(context.Context) (self, active int, err error)

	// Target is where parent maps go; nil is the store's own database, which is
	// written to chunk by chunk instead of issue by issue.
	Target   threads.Target
	Requests int // to the target at once
	// Linger is for how long the target may still carry out a write that was given
	// up on.
	Linger time.Duration

	MaxUnpacked int64 // bytes of a file once it is unpacked
	ChunkSize   int64 // records that make a chunk full; 0 is threads.ChunkSize

	// Stall is how long a worker may make no progress before it is replaced;
	// 0 is the seed's 5 minutes.
	Stall time.Duration

	Clock   func() time.Time
	Random  func() float64 // in [0, 1), for jitter
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

const (
	stallTime = 5 * time.Minute

	// lookEvery is how soon a node sees what was asked of another one.
	lookEvery = time.Second

	// sweepEvery is how often a node that has nothing to do looks for what has
	// expired.
	sweepEvery = time.Minute
)

// Processor is the background work. Start it after the leases.
type Processor struct {
	Options
	metrics *metrics
	shards  []*work.Shards
	wakes   []work.Signal
	stopped work.Signal  // what is going on may have been stopped
	beaten  atomic.Int64 // when there was progress last, in nanoseconds
}

// New makes a Processor; nothing is done before Start.
func New(o Options) *Processor {
	o.Stall = cmp.Or(o.Stall, stallTime)
	p := &Processor{Options: o, metrics: newMetrics(o.Metrics), stopped: work.NewSignal()}
	if o.Metrics != nil {
		o.Metrics.MustRegister(&migrationMetrics{store: o.Store, clock: o.Clock})
	}
	for _, loop := range []struct {
		lease string
		once  func(context.Context, *db.Lease) (bool, error)
	}{{"threads/staging", p.stageOnce}, {"threads/processing", p.processOnce}} {
		wake := work.NewSignal()
		s := work.NewShards(loop.lease, 1, o.Leases, o.Members, func(ctx context.Context, _ int, lease *db.Lease) {
			p.loop(ctx, lease, wake, loop.once)
		})
		s.Log = o.Log
		p.shards, p.wakes = append(p.shards, s), append(p.wakes, wake)
	}
	o.Store.OnChange(p.Wake)
	return p
}

// Start begins to work.
func (p *Processor) Start(ctx context.Context) error {
	for _, s := range p.shards {
		if err := s.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the work after what is under way, and gives the leases back.
func (p *Processor) Stop() {
	for _, s := range p.shards {
		s.Stop()
	}
}

// Held is how many of the leases this node works under.
func (p *Processor) Held() (n int) {
	for _, s := range p.shards {
		n += s.Held()
	}
	return n
}

// Wake has the workers look at once, also for whether the work is theirs.
func (p *Processor) Wake() {
	for _, s := range p.shards {
		s.Wake()
	}
	for _, wake := range append(slices.Clone(p.wakes), p.stopped) {
		wake.Set()
	}
}

// loop does what there is to do until ctx ends or the work has to be replaced.
func (p *Processor) loop(
	ctx context.Context, lease *db.Lease, wake <-chan struct{}, once func(context.Context, *db.Lease) (bool, error),
) {
	failing := false
	swept := time.Time{}
	for ctx.Err() == nil {
		did, err := once(ctx, lease)
		if err == nil && !did && p.Clock().Sub(swept) >= sweepEvery {
			if did, err = p.Store.Sweep(ctx, lease); !did {
				swept = p.Clock()
			}
		}
		switch {
		case errors.Is(err, errStalled):
			return // another node takes the lease
		case errors.Is(err, threads.ErrOvertaken):
			did, err = false, nil // what overtook it has woken this worker, or has the lease
		case err != nil && ctx.Err() == nil && !failing:
			p.Log.Error("the migration's worker failed; will try on", "lease", lease.Name(), "error", err)
		}
		failing = err != nil
		if did && !failing {
			swept = time.Time{} // what is done has left something to delete
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(lookEvery):
		}
	}
}

// stageOnce stages the files that are wanted most; false when none are.
func (p *Processor) stageOnce(ctx context.Context, lease *db.Lease) (bool, error) {
	st, err := p.Store.ClaimStage(ctx, lease)
	if st == nil || err != nil {
		return false, err
	}
	w := p.Store.StageWriter(st, lease)
	preview, inputs, err := p.stage(ctx, st, w)
	if err == nil {
		return true, w.Finish(ctx, preview, inputs)
	}
	if ctx.Err() != nil || errors.Is(err, threads.ErrOvertaken) {
		return true, err
	}
	switch fault.CodeOf(err) {
	case fault.Unavailable:
		return false, err // the database is away; again later
	case fault.Invalid, fault.TooLarge, fault.NotFound:
		return true, w.Fail(ctx, fault.As(err).Message)
	}
	p.Log.Error("files could not be staged", "stage", st.ID, "error", err)
	return true, w.Fail(ctx, "The files could not be read because of an internal error, which is in the server's log.")
}

// processOnce does what there is to do with the target; false when nothing is.
func (p *Processor) processOnce(ctx context.Context, lease *db.Lease) (bool, error) {
	m, err := p.Store.Migration(ctx)
	if err != nil {
		return false, err
	}
	if m.Phase == threads.PhaseProcessing {
		return true, p.guarded(ctx, func(ctx context.Context) error { return p.migrate(ctx, lease) })
	}
	for _, job := range []struct {
		name string
		run  func(context.Context, *db.Lease, threads.Job) error
	}{{threads.JobRestore, p.restore}, {threads.JobVerify, p.verify}} {
		j, err := p.Store.Job(ctx, job.name)
		if err != nil {
			return false, err
		}
		if j.State == threads.JobRunning {
			return true, p.guarded(ctx, func(ctx context.Context) error { return job.run(ctx, lease, j) })
		}
	}
	return false, nil
}

// errStalled is for work that made no progress for too long.
var errStalled = errors.New("no progress for too long")

// beat notes progress.
func (p *Processor) beat() { p.beaten.Store(p.Clock().UnixNano()) }

// guarded does some work, and gives it up when it makes no progress. What it
// still writes then is refused, since the lease is given back.
func (p *Processor) guarded(ctx context.Context, do func(context.Context) error) error {
	p.beat()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(p.Stall / 10):
		}
		if since := p.Clock().Sub(time.Unix(0, p.beaten.Load())); since >= p.Stall {
			p.Log.Error("the migration made no progress and gets another worker", "for", since.String())
			p.metrics.stalls.Inc()
			return errStalled
		}
	}
}

// wait waits, which is no standstill; an error is ctx's.
func (p *Processor) wait(ctx context.Context, d time.Duration) error {
	p.beat()
	err := work.Sleep(ctx, d)
	p.beat()
	return err
}

// retry does something with the database, again and again while that is away.
func (p *Processor) retry(ctx context.Context, what string, do func(context.Context) error) error {
	for step := 0; ; step++ {
		err := do(ctx)
		if !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
			return err
		}
		if step == 0 {
			p.Log.Warn("the database does not answer; will try on", "to", what, "error", err)
		}
		if err := p.wait(ctx, away.Delay(step, p.Random)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// away is how long to wait for the database: one that is back is found soon.
var away = work.Backoff{Steps: []time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second}, Jitter: 0.2}
