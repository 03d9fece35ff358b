package source

import (
	"context"
	"fmt"
	"sort"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// mirror makes the stored records whose comments are above after and up to
// upto those that are given, ordered by comment, under the lease. Where much
// is stored that is not among them it does a part, and says up to where.
func (s *Store) mirror(ctx context.Context, lease *db.Lease, after, upto int64, records []threads.Record) (reached int64, n Counts, err error) {
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
			return err
		}
		st, err := readState(ctx, tx, forUpdate(tx))
		if err != nil {
			return err
		}
		stored, err := scanRecords(ctx, tx, `comment_id > $1 AND comment_id <= $2 ORDER BY comment_id LIMIT $3`, after, upto, 2*sliceSize)
		if err != nil {
			return err
		}
		reached = upto
		if len(stored) == 2*sliceSize {
			reached = after
			for id := range stored {
				reached = max(reached, id)
			}
		}
		var c change
		c, n = compare(stored, records[:upTo(records, reached)], true)
		return s.apply(ctx, tx, st, c)
	})
	return reached, n, err
}

// upTo is how many of the records, ordered by comment, are up to a comment.
func upTo(records []threads.Record, comment int64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].CommentID > comment })
}

// mirrored notes how a pass ended: with a failure, or "" when it went through.
func (s *Store) mirrored(ctx context.Context, lease *db.Lease, failure string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
			return err
		}
		set := `mirror_tried_at = $1, mirror_failure = $2`
		if failure == "" {
			set += `, mirrored_at = $1`
		}
		if _, err := tx.Exec(ctx, `UPDATE threads_source_state SET `+set, db.Micros(tx.Now()), failure); err != nil {
			return fmt.Errorf("note the mirroring: %w", err)
		}
		return nil
	})
}

// MirrorNow has the next pass begin at once, on whichever node.
func (s *Store) MirrorNow(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE threads_source_state SET mirror_tried_at = 0`); err != nil {
			return fmt.Errorf("order the mirroring: %w", err)
		}
		return nil
	})
}
