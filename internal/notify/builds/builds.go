// Package builds asks platforms for the builds of commits that events named:
// the self-hosted platform sends no webhooks of builds.
package builds

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/work"
)

const (
	// every is how often is looked for what is due; nothing is written then, and
	// no platform is asked.
	every = 5 * time.Second
	// askFor is how long the builds of a commit are asked for: nearly all
	// pipelines have ended by then, and each costs a request every 5 minutes.
	askFor = 2 * time.Hour
	// firstPause is that between the first two questions; each is twice the one
	// before, up to longestPause.
	firstPause, longestPause = 30 * time.Second, 5 * time.Minute
	// atOnce is how many commits are asked for in a round.
	atOnce = 50
	// maxDue is how many commits of a connection are asked for at a time, which
	// is up to 4 requests a second; of more the last named ones are.
	maxDue = 1000
	// slack is how much earlier than its commit was named a build may have been
	// set, by the platform's clock, and be news. Older ones were set when the
	// commit was on another branch.
	slack = 10 * time.Minute
	// failedFor is how long a platform that did not answer is left alone.
	failedFor = time.Minute
	// askTime is what a lease must last for longer than one question.
	askTime = 12 * time.Second

	leaseName = "builds"
)

// Options are what a Watch needs.
type Options struct {
	Store *store.Store
	// Ask asks a connection's platform for the builds of a commit.
	Ask func(ctx context.Context, c *notify.Connection, commit string) ([]notify.PlatformBuild, error)
	// Take makes a build known, once.
	Take   func(ctx context.Context, c *notify.Connection, of notify.NamedCommit, b notify.PlatformBuild) error
	Leases *db.Leases
	Clock  func() time.Time
	Log    *slog.Logger
}

// Watch is the background work; one node of a cluster asks.
type Watch struct {
	Options
	work.PeriodicWorker // Stop cuts off a question under way

	failed map[string]time.Time // until when a connection is left alone
}

// New makes the background work; nothing is asked before Start.
func New(o Options) *Watch { return &Watch{Options: o, failed: make(map[string]time.Time)} }

// Start begins to ask.
func (w *Watch) Start(ctx context.Context) {
	w.StartEvery(ctx, every, w.Log, "builds could not be asked for", w.runOnce)
}

// runOnce asks for the builds of commits that are due, and says of how many.
func (w *Watch) runOnce(ctx context.Context) (asked int, err error) {
	due, err := w.Store.DueCommits(ctx, w.Clock(), atOnce)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	lease, err := w.Leases.Acquire(ctx, leaseName)
	if err != nil || lease == nil { // another node is at it
		return 0, err
	}
	defer work.Release(ctx, w.Leases, lease, w.Log, "the lease for builds")
	if due, err = w.Store.DueCommits(ctx, w.Clock(), atOnce); err != nil { // another node may have been
		return 0, err
	}
	for _, c := range due {
		if !lease.Good(askTime) {
			return asked, nil
		}
		if err := w.one(ctx, c); err != nil {
			return asked, err
		}
		asked++
	}
	if len(due) == atOnce {
		return asked, w.bound(ctx, due)
	}
	return asked, nil
}

// one asks for the builds of one commit and says when it is asked for next. An
// error is about our own database.
func (w *Watch) one(ctx context.Context, of notify.NamedCommit) error {
	now := w.Clock()
	c := w.Store.Platforms().Connections.Find(of.Connection)
	switch {
	case c == nil || !c.Answers():
		of.DueAt = time.Time{}
		return w.Store.ScheduleCommit(ctx, of)
	case now.Before(w.failed[c.Name]):
		of.DueAt = w.failed[c.Name]
		return w.Store.ScheduleCommit(ctx, within(of))
	}
	builds, err := w.Ask(ctx, c, of.Hash)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.outcome(c, err, now)
	for _, b := range builds {
		if b.Validate() != nil || !b.At.IsZero() && b.At.Before(of.NamedAt.Add(-slack)) {
			continue
		}
		if err := w.Take(ctx, c, of, b); err != nil {
			return fmt.Errorf("taking a build: %w", err)
		}
	}
	of.DueAt = now.Add(pauseAfter(of.Asked))
	of.Asked++
	return w.Store.ScheduleCommit(ctx, within(of))
}

// within ends the asking when its time is over.
func within(of notify.NamedCommit) notify.NamedCommit {
	if of.DueAt.After(of.NamedAt.Add(askFor)) {
		of.DueAt = time.Time{}
	}
	return of
}

// pauseAfter is how long to wait after the question of that number, from 0.
func pauseAfter(asked int) time.Duration {
	pause := firstPause
	for range asked {
		if pause *= 2; pause >= longestPause {
			return longestPause
		}
	}
	return pause
}

// outcome notes whether the platform answered, and says so when that changes.
func (w *Watch) outcome(c *notify.Connection, err error, now time.Time) {
	_, before := w.failed[c.Name]
	if err == nil {
		delete(w.failed, c.Name)
		if before {
			w.Log.Info("the platform answers for builds again", "connection", c.Name)
		}
		return
	}
	w.failed[c.Name] = now.Add(max(failedFor, fault.As(err).RetryAfter))
	if !before {
		w.Log.Warn("the platform cannot be asked for builds", "connection", c.Name, "error", err)
	}
}

// bound keeps the number of commits small that platforms are asked for.
func (w *Watch) bound(ctx context.Context, due []notify.NamedCommit) error {
	seen := map[string]bool{}
	for _, c := range due {
		if seen[c.Connection] {
			continue
		}
		seen[c.Connection] = true
		stopped, err := w.Store.KeepDue(ctx, c.Connection, maxDue)
		if err != nil {
			return err
		}
		if stopped > 0 {
			w.Log.Warn("more commits were pushed than the platform is asked builds of; the earlier ones are given up", "connection", c.Connection,
				"commits", stopped)
		}
	}
	return nil
}
