package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/store"
	"outrigger/internal/work"
)

const (
	// askEvery finds a node that does not answer OFFLINE after two questions.
	askEvery = 10 * time.Second
	// askTime is the most that a source takes by itself.
	askTime = 10 * time.Second

	// watcherLease is held by the one node that asks for all.
	watcherLease = "mailqueue/watcher"
)

// Watched is a node that is only watched.
type Watched struct {
	mailqueue.WatchedNode
	From mailqueue.Source
}

// Watcher asks the nodes that are only watched: one node of a cluster does so
// for all. Start it after the leases.
type Watcher struct {
	Nodes   []Watched
	Leases  *db.Leases
	Active  func() bool // whether this node takes part in the cluster's work
	Store   *store.Store
	Figures *Figures
	Log     *slog.Logger

	work.PeriodicWorker // Stop cuts off questions under way, and gives the lease back
}

// Start makes the nodes those of the settings, where no other node does, and
// begins to ask, where there is anything to ask.
func (w *Watcher) Start(ctx context.Context) error {
	lease, err := w.take(ctx)
	if err != nil {
		return err
	}
	if len(w.Nodes) == 0 {
		if lease != nil {
			work.Release(ctx, w.Leases, lease, w.Log, "a lease", "lease", lease.Name())
		}
		return nil
	}
	failing := false
	w.PeriodicWorker.Start(ctx, 0, func(ctx context.Context) time.Duration {
		if lease == nil && w.Active() {
			if lease, err = w.take(ctx); err != nil && !failing && ctx.Err() == nil {
				w.Log.Warn("the watched nodes cannot be asked; will try on", "error", err)
			}
			failing = err != nil
		}
		if lease != nil {
			w.hold(ctx, lease)
			lease = nil
		}
		return askEvery
	})
	return nil
}

// take acquires the lease and makes the list of nodes that of the settings.
// nil: another node watches.
func (w *Watcher) take(ctx context.Context) (*db.Lease, error) {
	lease, err := w.Leases.Acquire(ctx, watcherLease)
	if err != nil || lease == nil {
		return nil, err
	}
	list := make([]mailqueue.WatchedNode, len(w.Nodes))
	for i, n := range w.Nodes {
		list[i] = n.WatchedNode
	}
	if err := w.Store.KeepWatched(ctx, lease, list); err != nil {
		work.Release(ctx, w.Leases, lease, w.Log, "a lease", "lease", lease.Name())
		return nil, err
	}
	return lease, nil
}

// hold asks every node on its own, so that one that is slow delays no other,
// until the lease is lost, this node is drained or ctx ends.
func (w *Watcher) hold(ctx context.Context, lease *db.Lease) {
	held, end := context.WithCancel(ctx)
	defer work.Release(ctx, w.Leases, lease, w.Log, "a lease", "lease", lease.Name())
	var followed sync.WaitGroup
	for _, n := range w.Nodes {
		followed.Go(func() { w.follow(held, lease, n) })
	}
	defer followed.Wait()
	defer end()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-lease.Lost():
			return
		case <-look.C:
			if !w.Active() {
				return
			}
		}
	}
}

// follow asks one node again and again.
func (w *Watcher) follow(ctx context.Context, lease *db.Lease, n Watched) {
	defer w.Figures.forget(n.ID)
	says := sayer{log: w.Log, node: n.ID}
	every := time.NewTicker(askEvery)
	defer every.Stop()
	for {
		result, err := w.runOnce(ctx, lease, n)
		says.heard(ctx, result.Failure, err)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// runOnce asks a node and keeps what it said.
func (w *Watcher) runOnce(ctx context.Context, lease *db.Lease, n Watched) (Result, error) {
	r := ask(ctx, n.From, askTime)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	w.Figures.asked(n.ID, r.Sizes, r.Failure)
	return r, w.Store.RecordWatched(ctx, lease, n.ID, r.Sizes, r.Failure)
}
