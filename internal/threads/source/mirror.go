package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
	"outrigger/internal/work"
)

// Reader reads the records of a database.
type Reader interface {
	// Read returns up to limit rows with comments above after, ordered by
	// comment, each once. last is the comment of the last row, whether it is a
	// record or not; more reports whether others may follow.
	Read(ctx context.Context, after int64, limit int) (records []threads.Record, last int64, more bool, err error)
}

// Mirror keeps the hierarchy as a database has it, on one node at a time.
// Start it after the leases.
type Mirror struct {
	store    *store.Source
	reader   Reader
	interval time.Duration
	leases   *db.Leases
	log      *slog.Logger

	work.PeriodicWorker // Stop ends the pass that is under way; the next one starts over

	failing bool // the last pass did, which was said
}

const (
	// mirrorEvery is how often a node looks whether a pass is due.
	mirrorEvery = 5 * time.Second
	// mirrorAgain is how soon a pass that failed is tried again, where the
	// interval is longer.
	mirrorAgain = time.Minute
	// mirrorPage is how many rows one query reads: few queries, and some
	// hundred KiB.
	mirrorPage = 10_000
	// mirrorSlice is longer than writing one slice takes.
	mirrorSlice = 5 * time.Second

	mirrorLease = "threads-mirror"
)

// NewMirror makes the background work; log may be nil.
func NewMirror(store *store.Source, reader Reader, interval time.Duration, leases *db.Leases, log *slog.Logger) *Mirror {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Mirror{store: store, reader: reader, interval: interval, leases: leases, log: log}
}

// Start begins to mirror, at once where a pass is due.
func (m *Mirror) Start(ctx context.Context) {
	m.PeriodicWorker.Start(ctx, 0, m.look)
}

// Order has the next pass begin now, as Store.MirrorNow says; fault.Conflict on a
// nil Mirror.
func (m *Mirror) Order(ctx context.Context, acceptRemoval bool, removes int64) error {
	if m == nil {
		return fault.New(fault.Conflict, "The hierarchy comes from files; it is mirrored only if threads.source is sql.")
	}
	err := m.store.MirrorNow(ctx, acceptRemoval, removes)
	if err == nil {
		m.Wake()
	}
	return err
}

// look is a look at whether a pass is due, which is logged.
func (m *Mirror) look(ctx context.Context) time.Duration {
	result, err := m.runOnce(ctx)
	switch {
	case ctx.Err() != nil:
		return mirrorEvery
	case err != nil && !m.failing:
		m.log.Warn("the hierarchy was not mirrored; will try again", "in", min(mirrorAgain, m.interval), "error", err)
	case result.Ran && result.ImportCounts != threads.ImportCounts{Unchanged: result.ImportCounts.Unchanged}:
		m.log.Info("mirrored the hierarchy", "added", result.Added, "replaced", result.Replaced, "removed", result.Removed)
	}
	if result.Ran || err != nil {
		m.failing = err != nil
	}
	return mirrorEvery
}

// MirrorResult is what one look did.
type MirrorResult struct {
	Ran bool // a pass was due, and this node's
	threads.ImportCounts
}

// runOnce makes a pass if one is due and no other node is at it.
func (m *Mirror) runOnce(ctx context.Context) (result MirrorResult, err error) {
	if due, err := m.due(ctx); err != nil || !due {
		return result, err
	}
	lease, err := m.leases.Acquire(ctx, mirrorLease)
	if err != nil || lease == nil {
		return result, err
	}
	defer work.Release(ctx, m.leases, lease, m.log, "the lease", "lease", lease.Name())
	// Another node may have made it between the look and the lease.
	if due, err := m.due(ctx); err != nil || !due {
		return result, err
	}
	result.Ran = true
	result.ImportCounts, err = m.pass(ctx, lease)
	if ctx.Err() != nil {
		return result, ctx.Err()
	}
	var failure string
	var removes int64
	if held := (*heldError)(nil); errors.As(err, &held) {
		failure, removes = held.Error(), held.removes
	} else if err != nil {
		failure = "The hierarchy was not mirrored: " + err.Error() + "."
	}
	return result, errors.Join(err, m.store.Mirrored(ctx, lease, failure, removes))
}

func (m *Mirror) due(ctx context.Context) (bool, error) {
	return m.store.MirrorDue(ctx, m.interval, mirrorAgain)
}

// heldError says that a reading would remove more records than it may without an
// administrator's word: half of them.
type heldError struct{ removes, of int64 }

func (e *heldError) Error() string {
	return fmt.Sprintf("The last reading of the database of threads.sql would remove %s of %s records, and waits for an administrator to "+
		"accept that.",
		threads.Thousands(e.removes), threads.Thousands(e.of))
}

// pass reads everything once, and where that differs from what is stored a
// second time, to store it: nothing is removed before it is known how much.
func (m *Mirror) pass(ctx context.Context, lease *db.Lease) (threads.ImportCounts, error) {
	st, err := m.store.State(ctx)
	if err != nil {
		return threads.ImportCounts{}, err
	}
	found, err := m.read(ctx, m.store.Survey)
	if err != nil || found == (threads.ImportCounts{Unchanged: found.Unchanged}) {
		return found, err
	}
	mayRemove := max(st.Records/2, st.MayRemove)
	if found.Removed > mayRemove {
		return threads.ImportCounts{}, &heldError{found.Removed, st.Records}
	}
	return m.read(ctx, func(ctx context.Context, after, upto int64, records []threads.Record) (int64, threads.ImportCounts, error) {
		if !lease.Good(mirrorSlice) {
			return 0, threads.ImportCounts{}, fault.New(fault.Conflict, "The lease of the mirror was lost.")
		}
		reached, n, err := m.store.Mirror(ctx, lease, after, upto, records, mayRemove)
		if err != nil {
			return 0, threads.ImportCounts{}, fmt.Errorf("storing what was read: %w", err)
		}
		mayRemove -= n.Removed
		return reached, n, nil
	})
}

// taking takes the records of the comments above after and up to upto, or those
// up to the one that it says it has reached.
type taking func(ctx context.Context, after, upto int64, records []threads.Record) (reached int64, n threads.ImportCounts, err error)

// read reads everything, in the order of the comments, and gives it to take.
func (m *Mirror) read(ctx context.Context, take taking) (total threads.ImportCounts, err error) {
	for after, more := int64(math.MinInt64), true; more; {
		var records []threads.Record
		var last int64
		records, last, more, err = m.reader.Read(ctx, after, mirrorPage)
		if err != nil {
			return total, err
		}
		if !more {
			last = math.MaxInt64 // what is stored beyond the last row goes
		}
		n, err := inRanges(ctx, after, last, records, take)
		total.Add(n)
		if err != nil {
			return total, err
		}
		after = last
	}
	return total, nil
}

// inRanges returns records to take, a slice at a time.
func inRanges(ctx context.Context, after, upto int64, records []threads.Record, take taking) (total threads.ImportCounts, err error) {
	for after < upto {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		end, slice := upto, records
		if len(slice) > store.SourceSlice {
			slice = slice[:store.SourceSlice]
			end = slice[store.SourceSlice-1].CommentID
		}
		reached, n, err := take(ctx, after, end, slice)
		if err != nil {
			return total, err
		}
		total.Add(n)
		records = records[threads.UpToComment(records, reached):]
		after = reached
	}
	return total, nil
}
