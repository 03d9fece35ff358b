package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
	"outrigger/internal/work"
)

// Remote is a server that has the id mappings report itself.
type Remote interface {
	// IDMappings returns each mapping of a cloud site to take, in the report's
	// order, waiting until there is a report. A site that the server does not
	// know, or a request that it refuses, is fault.Invalid.
	IDMappings(ctx context.Context, cloudSite string, invalidate bool, take func(threads.IDMapping) error) error
}

// Reports makes the reports that Store.Ask orders: in the background, each on
// one node. Start it after the leases.
type Reports struct {
	store  *store.Source
	leases *db.Leases
	remote Remote
	log    *slog.Logger
	tick   time.Duration

	rounds  work.PeriodicWorker
	failing bool // the last round did, which was said
	jobs    sync.WaitGroup

	mu      sync.Mutex
	running map[int64]bool // by report
}

const (
	// reportsEvery is how often a node looks for reports that another one was
	// asked for, or has left behind.
	reportsEvery = 5 * time.Second
	// maxJobs bounds the reports that one node makes at once; each may wait
	// for a remote server.
	maxJobs = 4
)

// NewReports makes the background work; remote may be nil, log too.
func NewReports(store *store.Source, leases *db.Leases, remote Remote, log *slog.Logger) *Reports {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Reports{
		store: store, leases: leases, remote: remote, log: log, tick: reportsEvery, running: map[int64]bool{},
	}
}

// HasRemote reports whether there are mappings of sites that have none here.
func (r *Reports) HasRemote() bool { return r.remote != nil }

// Start begins to make reports.
func (r *Reports) Start(ctx context.Context) {
	r.rounds.Start(ctx, 0, func(ctx context.Context) time.Duration {
		_, err := r.runOnce(ctx)
		if err != nil && ctx.Err() == nil && !r.failing {
			r.log.Warn("id mappings reports could not be begun; will try again", "in", r.tick, "error", err)
		}
		r.failing = err != nil
		return r.tick
	})
}

// Stop ends what is being made; it is made again after the next start, or on
// another node.
func (r *Reports) Stop() {
	r.rounds.Stop()
	r.jobs.Wait()
}

// Wake has the orders looked at now.
func (r *Reports) Wake() { r.rounds.Wake() }

// runOnce begins the reports that no node is making, and says how many.
func (r *Reports) runOnce(ctx context.Context) (begun int, err error) {
	orders, err := r.store.Making(ctx)
	if err != nil {
		return 0, err
	}
	for _, order := range orders {
		if !r.begin(order.ID) {
			continue
		}
		lease, err := r.leases.Acquire(ctx, "threads-report/"+strconv.FormatInt(order.ID, 10))
		if err != nil || lease == nil {
			r.end(order.ID)
			if err != nil {
				return begun, err
			}
			continue // another node is at it
		}
		begun++
		r.jobs.Go(func() {
			defer r.Wake() // there may be more than maxJobs
			defer r.end(order.ID)
			r.job(ctx, lease, order)
		})
	}
	return begun, nil
}

func (r *Reports) begin(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[id] || len(r.running) >= maxJobs {
		return false
	}
	r.running[id] = true
	return true
}

func (r *Reports) end(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, id)
}

// job makes one report under its lease.
func (r *Reports) job(ctx context.Context, lease *db.Lease, order threads.Report) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-lease.Lost():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := r.produce(ctx, lease, order)
	if err != nil && ctx.Err() == nil && !fault.Is(err, fault.NotFound) {
		r.log.Warn("an id mappings report was not finished; will try again", "site", order.Site.URL, "error", err)
	}
	work.Release(ctx, r.leases, lease, r.log, "the lease", "lease", lease.Name())
}

// produce makes the report, and says in its row what became of it. An error is
// one of this program: the report is tried again.
func (r *Reports) produce(ctx context.Context, lease *db.Lease, order threads.Report) error {
	report, err := r.compose(ctx, lease, order)
	var foreign *remoteError
	switch {
	case errors.As(err, &foreign):
		f := fault.As(foreign.err)
		report.State, report.Failure, report.Refused = threads.ReportFailed, f.Message, f.Code == fault.Invalid
		if f.Code == fault.Internal {
			report.Failure = "The server that has the id mappings did not give them: " + foreign.err.Error() + "."
		}
	case err != nil:
		return err
	}
	if err := r.store.FinishReport(ctx, lease, report); err != nil {
		return err
	}
	if err := r.store.DropOldReports(ctx, report.Site.ID); err != nil {
		return fmt.Errorf("removing old reports: %w", err)
	}
	return nil
}

// remoteError is what a remote server answered.
type remoteError struct{ err error }

func (e *remoteError) Error() string { return e.err.Error() }
