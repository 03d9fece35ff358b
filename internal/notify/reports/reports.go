// Package reports runs activity reports when they are due: one node of a cluster
// asks the platforms, and what a report says goes into its channel's queue.
package reports

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

const (
	// every is how often is looked for what is due; nothing is written then, and
	// no platform is asked.
	every = 5 * time.Second
	// atOnce is how many reports are taken up together, and together asked how
	// many platforms are asked at a time: reports are mostly due at the full hour.
	atOnce, together = 50, 4
	// askTime is how long a platform may take for all pages of a repository.
	askTime = time.Minute
	// patience is how long a platform may keep a round waiting in vain: then the
	// others of its reports are put off for a minute without a question.
	patience = 30 * time.Second
	// commitTime is what a run may take to be committed before the lease ends.
	commitTime = 2 * time.Second

	leaseName = "reports"
)

// Store keeps reports and their runs; *store.Store.
type Store interface {
	DueReports(ctx context.Context, now time.Time, limit int) ([]notify.ReportInfo, error)
	KeepRun(ctx context.Context, run *notify.ReportRun) (kept bool, err error)
}

// Options are what a Runner needs.
type Options struct {
	Store Store
	// Compose asks the platform and makes what is sent: notify.Reports.Compose.
	Compose func(ctx context.Context, r *notify.Report) (*notify.Event, error)
	// Members says whether this node takes part in the cluster's work.
	Members func(context.Context) (self, active int, err error)
	Leases  *db.Leases
	Clock   func() time.Time
	Log     *slog.Logger
}

// Runner is the background work; one node of a cluster does it.
type Runner struct {
	Options
	work.PeriodicWorker // Stop cuts off a question under way, which the next start repeats
}

// New makes the background work; nothing is asked before Start.
func New(o Options) *Runner { return &Runner{Options: o} }

// Start begins to look for reports that are due.
func (r *Runner) Start(ctx context.Context) {
	r.StartEvery(ctx, every, r.Log, "activity reports could not be run", r.runOnce)
}

// runOnce returns every report that is due its turn, and says how many had one.
func (r *Runner) runOnce(ctx context.Context) (turned int, err error) {
	due, err := r.Store.DueReports(ctx, r.Clock(), atOnce)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	self, _, err := r.Members(ctx)
	if err != nil || self == 0 { // the node is drained
		return 0, err
	}
	lease, err := r.Leases.Acquire(ctx, leaseName)
	if err != nil || lease == nil { // another node is at it
		return 0, err
	}
	defer work.Release(ctx, r.Leases, lease, r.Log, "the lease for reports")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // what is asked without the lease would be asked twice
		select {
		case <-lease.Lost():
			cancel()
		case <-ctx.Done():
		}
	}()
	rd := &round{Runner: r, lease: lease, waited: make(map[string]waiting)}
	for len(due) > 0 {
		if due, err = r.Store.DueReports(ctx, r.Clock(), atOnce); err != nil { // another node may have been
			return turned, err
		}
		n, err := rd.turnAll(ctx, due)
		turned += n
		if err != nil || len(due) < atOnce || n == 0 {
			return turned, err
		}
	}
	return turned, nil
}

// round runs the reports that are due, under one lease.
type round struct {
	*Runner
	lease *db.Lease

	mu     sync.Mutex
	waited map[string]waiting // by connection
}

// waiting is how long a platform kept the round waiting in vain, and what came of
// it.
type waiting struct {
	time time.Duration
	err  error
}

// ask asks the platform what a report is to say, unless it has kept the round waiting for
// too long already: then it returns the error of that.
func (rd *round) ask(ctx context.Context, r *notify.Report) (*notify.Event, error) {
	if w := rd.waitedFor(r.Connection); w.time >= patience {
		return nil, w.err
	}
	ctx, cancel := context.WithTimeout(notify.OnBehalf(ctx, r.UpdatedByID), askTime)
	defer cancel()
	begun := time.Now()
	e, err := rd.Compose(ctx, r)
	if err != nil {
		rd.mu.Lock()
		defer rd.mu.Unlock()
		rd.waited[r.Connection] = waiting{rd.waited[r.Connection].time + time.Since(begun), err}
	}
	return e, err
}

func (rd *round) waitedFor(connection string) waiting {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	return rd.waited[connection]
}

// turnAll runs reports, some at a time, and returns how many were kept.
func (rd *round) turnAll(ctx context.Context, due []notify.ReportInfo) (kept int, err error) {
	var group errgroup.Group
	group.SetLimit(together)
	done := make([]bool, len(due))
	for i := range due {
		group.Go(func() (err error) {
			done[i], err = rd.turn(ctx, &due[i])
			return err
		})
	}
	err = group.Wait()
	for _, ok := range done {
		if ok {
			kept++
		}
	}
	return kept, err
}

// turn is one report's. An error is about our own database, or the end of ctx.
func (rd *round) turn(ctx context.Context, report *notify.ReportInfo) (kept bool, err error) {
	run := report.BeginRun(rd.Clock())
	if !run.Due.IsZero() {
		e, err := rd.ask(ctx, &report.Report)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		run.Conclude(e, err)
		rd.say(report, run, err)
	}
	if !rd.lease.Good(commitTime) {
		return false, nil
	}
	run.Lease, run.Fence = rd.lease.Name(), rd.lease.Fence()
	if kept, err = rd.Store.KeepRun(ctx, run); err != nil {
		return false, fmt.Errorf("keeping the run of report %d: %w", report.ID, err)
	}
	return kept, nil
}

// say logs that a platform begins not to answer for a report, and that it was
// given up; not every question between.
func (rd *round) say(report *notify.ReportInfo, run *notify.ReportRun, err error) {
	log := rd.Log.With("report", report.ID, "connection", report.Connection, "project", report.ProjectKey, "repository", report.RepositoryKey)
	switch {
	case run.Error != "":
		log.Warn("an activity report was given up: the platform did not answer for an hour", "due", run.Due, "error", err)
	case err != nil && report.RetryingSince.IsZero():
		log.Warn("the platform does not answer for an activity report; it is asked again for an hour", "due", run.Due, "next", run.AskAt,
			"error", err)
	}
}
