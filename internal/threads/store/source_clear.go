package store

import (
	"context"
	"math"

	"outrigger/internal/db"
)

// Clear removes every record.
func (s *Source) Clear(ctx context.Context) (removed int64, err error) {
	for {
		n, done, err := s.clearSome(ctx)
		removed += n
		if done || err != nil {
			return removed, err
		}
	}
}

// clearBlocks is how many blocks one transaction clears: some 10 ms.
const clearBlocks = 5

// clearSome removes the records of the first blocks; done when there were none.
func (s *Source) clearSome(ctx context.Context) (n int64, done bool, err error) {
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		st, err := readSourceState(ctx, tx, tx.ForUpdate())
		if n, done = 0, st.Records == 0; done || err != nil {
			return err
		}
		x, err := s.loadIndex(ctx, tx, st)
		if err != nil {
			return err
		}
		// The first block stays, empty: it begins before every record.
		end, left := key{math.MaxInt64, math.MaxInt64}, []block{{first: x.blocks[0].first}}
		if len(x.blocks) > clearBlocks {
			end, left = x.blocks[clearBlocks].first, append(left, x.blocks[clearBlocks:]...)
		}
		for _, table := range []string{`threads_source_blocks`, `threads_source_records`} {
			below := `<`
			if end.issue == math.MaxInt64 {
				below = `<=`
			}
			n, err = tx.Changed(ctx, "removing records",
				`DELETE FROM `+table+` WHERE (issue_id, comment_id) `+below+` ($1, $2)`, end.issue, end.comment)
			if err != nil {
				return err
			}
		}
		if err := putBlocks(ctx, tx, left[:1]); err != nil {
			return err
		}
		return s.commitIndex(ctx, tx, newIndex(st.Generation+1, left))
	})
	return n, done, err
}
