package store

import (
	"context"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
)

// Mirror makes the stored records whose comments are above after and up to
// upto those that are given, ordered by comment, under the lease. It removes no
// more than it may: beyond that nothing is done, and the error is
// threads.ErrTooManyRemoved. Where much is stored that is not among them it does
// a part, and says up to where.
func (s *Source) Mirror(
	ctx context.Context, lease *db.Lease, after, upto int64, records []threads.Record, mayRemove int64,
) (reached int64, n threads.ImportCounts, err error) {
	err = s.db.WriteBulk(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		st, err := readSourceState(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		var c change
		if c, reached, n, err = difference(ctx, tx, after, upto, records); err != nil {
			return err
		}
		if n.Removed > mayRemove {
			return threads.ErrTooManyRemoved
		}
		return s.apply(ctx, tx, st, c)
	}))
	return reached, n, err
}

// Survey tells what Mirror would do, and does nothing.
func (s *Source) Survey(
	ctx context.Context, after, upto int64, records []threads.Record,
) (reached int64, n threads.ImportCounts, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, reached, n, err = difference(ctx, tx, after, upto, records)
		return err
	})
	return reached, n, err
}

// difference is what makes the stored records of a range those that are given.
func difference(
	ctx context.Context, tx *db.Tx, after, upto int64, records []threads.Record,
) (c change, reached int64, n threads.ImportCounts, err error) {
	stored, err := scanRecords(ctx, tx, `comment_id > $1 AND comment_id <= $2 ORDER BY comment_id LIMIT $3`, after, upto, 2*SourceSlice)
	if err != nil {
		return c, reached, n, err
	}
	reached = upto
	if len(stored) == 2*SourceSlice {
		reached = after
		for id := range stored {
			reached = max(reached, id)
		}
	}
	c, n = compare(stored, records[:threads.UpToComment(records, reached)], true)
	return c, reached, n, nil
}

// Mirrored notes how a pass ended: with a failure, or "" when it went through.
// removes is how many records it would have removed, where that was too many.
func (s *Source) Mirrored(ctx context.Context, lease *db.Lease, failure string, removes int64) error {
	return s.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		set := `mirror_tried_at = $1, mirror_failure = $2, mirror_removes = $3`
		if failure == "" {
			set += `, mirrored_at = $1, mirror_failing_since = 0, mirror_may_remove = 0`
		} else {
			set += `, mirror_failing_since = CASE WHEN mirror_failing_since = 0 THEN $1 ELSE mirror_failing_since END`
		}
		return tx.Do(ctx, "noting the mirroring", `UPDATE threads_source_state SET `+set, db.Micros(tx.Now()), failure, removes)
	}))
}

// MirrorNow has the next pass begin at once, on whichever node. acceptRemoval is
// an administrator's word that it may remove as many records as the last one
// would have: fault.Conflict where that was not too many, or not removes, which is
// what the administrator saw; 0 is any.
func (s *Source) MirrorNow(ctx context.Context, acceptRemoval bool, removes int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		st, err := readSourceState(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		may := st.MayRemove
		if acceptRemoval {
			if may = st.Removes; may == 0 {
				return fault.New(fault.Conflict, "No removal of records waits to be accepted.")
			}
			if removes != 0 && removes != may {
				return fault.New(fault.Conflict, "The removal of %s of %s records waits to be accepted now, not of %s. "+
					"Nothing was done; look at the source again.",
					threads.Thousands(may), threads.Thousands(st.Records), threads.Thousands(removes))
			}
			after := map[string]string{"removes": strconv.FormatInt(st.Removes, 10), "of": strconv.FormatInt(st.Records, 10)}
			if err := audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
				Area: "threads", Action: "accept removal", Object: "hierarchy", After: after,
			})); err != nil {
				return err
			}
		}
		return tx.Do(ctx, "ordering the mirroring", `UPDATE threads_source_state SET mirror_tried_at = 0, mirror_may_remove = $1`, may)
	})
}

// MirrorDue reports whether a pass is due: an interval after the last one, or again
// after one that failed where that is sooner.
func (s *Source) MirrorDue(ctx context.Context, interval, again time.Duration) (due bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		st, err := readSourceState(ctx, tx, "")
		wait := interval
		if st.Failure != "" {
			wait = min(wait, again)
		}
		due = !tx.Now().Before(st.TriedAt.Add(wait))
		return err
	})
	return due, err
}
