// Package retention deletes what has been kept long enough, and gives the space
// back: in small slices that wait behind all other writes, and on one node at a
// time.
package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/work"
)

const (
	// firstAfter keeps the first round out of the way of a start.
	firstAfter = time.Minute
	// every is how often a round begins: what is kept for days need not go to
	// the minute, and an hour's worth is soon deleted. What is kept for less
	// than that goes to the minute.
	every       = time.Hour
	everyMinute = time.Minute

	// sliceTime is how long a slice may hold the database; the number of rows
	// follows it, between these bounds.
	sliceTime          = 20 * time.Millisecond
	minSlice, maxSlice = 16, 4096
	firstSlice         = 256

	// leaseName is the lease under which one node deletes for all.
	leaseName = "retention"
)

// Rule says how long one kind of thing is kept.
type Rule struct {
	Name string        // the kind, for logs: "events" …
	Keep time.Duration // 0 or less keeps it for ever

	// Delete removes at most limit things from before a time, the oldest
	// first, and says how many. It leaves alone what still waits, however old
	// it is. When it removes fewer than limit, nothing is left to remove.
	Delete func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error)
}

// Retention is the background work. Start it after the leases.
type Retention struct {
	db     *db.DB
	every  time.Duration
	rules  []Rule
	log    *slog.Logger
	leases *db.Leases

	doneAt atomic.Int64 // when the last round was, by this process's clock, in seconds since 1970

	work.PeriodicWorker // Stop lets the slice that is under way end
}

// Result is what one round did.
type Result struct {
	Elsewhere bool             // another node is at it
	Deleted   map[string]int64 // how many, by the rule's name
	Freed     int64            // pages given back to the file system
}

// New makes the background work; nothing is deleted before Start. log may be
// nil.
func New(d *db.DB, rules []Rule, log *slog.Logger, leases *db.Leases) *Retention {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	r := &Retention{db: d, every: every, rules: rules, log: log, leases: leases}
	for _, rule := range rules {
		if 0 < rule.Keep && rule.Keep < every {
			r.every = everyMinute
		}
	}
	return r
}

// Start begins the rounds, the first in a minute.
func (r *Retention) Start(ctx context.Context) {
	r.PeriodicWorker.Start(ctx, firstAfter, r.round)
}

// round is a round that is logged.
func (r *Retention) round(ctx context.Context) time.Duration {
	result, err := r.runOnce(ctx)
	if err == nil && !result.Elsewhere {
		r.doneAt.Store(time.Now().Unix())
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("not everything past its time could be deleted; will try again", "in", r.every, "error", err)
	}
	if result.Freed > 0 {
		r.log.Info("gave space back to the file system", "pages", result.Freed)
	}
	for name, n := range result.Deleted {
		r.log.Info("deleted what was past its time", "what", name, "count", n)
	}
	return r.every
}

// LastRound is when this node last deleted all that was past its time; the zero
// time: not since it started.
func (r *Retention) LastRound() time.Time {
	if at := r.doneAt.Load(); at > 0 {
		return time.Unix(at, 0)
	}
	return time.Time{}
}

// runOnce is one round over all rules. A rule that fails does not keep the
// others from theirs.
func (r *Retention) runOnce(ctx context.Context) (Result, error) {
	lease, err := r.leases.Acquire(ctx, leaseName)
	if err != nil {
		return Result{}, err
	}
	if lease == nil {
		return Result{Elsewhere: true}, nil
	}
	defer work.Release(ctx, r.leases, lease, r.log, "the lease", "lease", leaseName)
	result := Result{Deleted: map[string]int64{}}
	var failed []error
	for _, rule := range r.rules {
		n, err := r.apply(ctx, rule, lease)
		if n > 0 {
			result.Deleted[rule.Name] = n
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", rule.Name, err))
		}
	}
	if result.Freed, err = r.slices(ctx, lease, freePages); err != nil {
		failed = append(failed, fmt.Errorf("giving back the space: %w", err))
	}
	return result, errors.Join(failed...)
}

// apply deletes by one rule.
func (r *Retention) apply(ctx context.Context, rule Rule, lease *db.Lease) (int64, error) {
	if rule.Keep <= 0 {
		return 0, nil
	}
	return r.slices(ctx, lease, func(ctx context.Context, tx *db.Tx, limit int) (int64, error) {
		return rule.Delete(ctx, tx, tx.Now().Add(-rule.Keep), limit)
	})
}

// slices calls do, slice after slice, until it did less than its limit, the
// lease is lost or ctx ends.
func (r *Retention) slices(ctx context.Context, lease *db.Lease, do slice) (total int64, err error) {
	for limit := firstSlice; ; {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		if !lease.Good(sliceTime) {
			return total, errLost
		}
		n, took, err := r.write(ctx, do, limit)
		total += n
		if err != nil || n < int64(limit) {
			return total, err
		}
		limit = resize(limit, took)
	}
}

var errLost = errors.New("the lease was lost")

// slice is a piece of the work: at most limit things, and how many it were.
type slice func(ctx context.Context, tx *db.Tx, limit int) (int64, error)

func freePages(ctx context.Context, tx *db.Tx, limit int) (int64, error) {
	return tx.FreePages(ctx, limit)
}

func (r *Retention) write(ctx context.Context, do slice, limit int) (n int64, took time.Duration, err error) {
	err = r.db.WriteBulk(ctx, func(tx *db.Tx) (err error) {
		begun := time.Now()
		n, err = do(ctx, tx, limit)
		took = time.Since(begun)
		return err
	})
	if err != nil {
		return 0, took, err
	}
	return n, took, nil
}

// resize brings the next slice nearer to sliceTime.
func resize(limit int, took time.Duration) int {
	switch {
	case took > sliceTime:
		limit /= 2
	case took < sliceTime/2:
		limit *= 2
	}
	return min(max(limit, minSlice), maxSlice)
}
