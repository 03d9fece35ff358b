package store

import (
	"context"
	"math"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// SourceSlice is how many records one transaction takes: some 10 ms, so that
// what is urgent never waits long behind an import.
const SourceSlice = 1000

// MergeRecords takes one slice of records in. Of a comment that comes twice the last
// record counts.
func (s *Source) MergeRecords(ctx context.Context, records []threads.Record) (n threads.ImportCounts, err error) {
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		st, err := readSourceState(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		stored, err := storedOf(ctx, tx, records)
		if err != nil {
			return err
		}
		var c change
		c, n = compare(stored, records, false)
		return s.apply(ctx, tx, st, c)
	})
	return n, err
}

// change is what a slice does to the table.
type change struct {
	put        []threads.Record // new, or other than stored
	remove     []key
	came, gone []key // places in the export
}

// compare works out what records do to those that are stored, by comment.
func compare(stored map[int64]threads.Record, records []threads.Record, mirror bool) (c change, n threads.ImportCounts) {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.CommentID
	}
	now, changed, n := settle(stored, ids, records)
	for _, id := range changed {
		r := now[id]
		c.put = append(c.put, r)
		old, was := stored[id]
		if was && old.IssueID == r.IssueID {
			continue // another parent: its place stays
		}
		c.came = append(c.came, keyOf(r))
		if was {
			c.gone = append(c.gone, keyOf(old))
		}
	}
	if !mirror {
		return c, n
	}
	for id, old := range stored {
		if _, still := now[id]; !still {
			n.Removed++
			c.remove = append(c.remove, keyOf(old))
			c.gone = append(c.gone, keyOf(old))
		}
	}
	return c, n
}

// apply writes a change and what follows from it for the blocks.
func (s *Source) apply(ctx context.Context, tx *db.Tx, st threads.SourceState, c change) error {
	if len(c.put) == 0 && len(c.remove) == 0 {
		return nil
	}
	if err := insertRecord.Rows(ctx, tx, "storing records", c.put); err != nil {
		return err
	}
	removed := make([][]any, len(c.remove))
	for i, k := range c.remove {
		removed[i] = []any{k.issue, k.comment}
	}
	if err := tx.Each(ctx, "removing records",
		`DELETE FROM threads_source_records WHERE issue_id = $1 AND comment_id = $2`, removed, nil); err != nil {
		return err
	}
	return s.reindex(ctx, tx, st, c.came, c.gone)
}

var insertRecord = db.Insert[threads.Record]{
	Into: `threads_source_records (issue_id, comment_id, parent_comment_id)`,
	Columns: []db.Column[threads.Record]{
		db.Number(func(r threads.Record) int64 { return r.IssueID }),
		db.Number(func(r threads.Record) int64 { return r.CommentID }),
		db.Number(func(r threads.Record) int64 { return r.ParentCommentID }),
	},
	OnConflict: `ON CONFLICT (comment_id) DO UPDATE SET issue_id = excluded.issue_id, parent_comment_id = excluded.parent_comment_id`,
}

// storedOf reads what is stored of the comments of a slice.
func storedOf(ctx context.Context, tx *db.Tx, records []threads.Record) (map[int64]threads.Record, error) {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.CommentID
	}
	where, args := among(tx.Dialect(), `comment_id`, ids)
	return scanRecords(ctx, tx, where, args...)
}

// scanRecords returns the records that where selects, by comment.
func scanRecords(ctx context.Context, tx *db.Tx, where string, args ...any) (map[int64]threads.Record, error) {
	stored := map[int64]threads.Record{}
	return stored, tx.EachRow(ctx, "stored records", func(row db.Row) error {
		var r threads.Record
		err := row.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID)
		stored[r.CommentID] = r
		return err
	}, `SELECT issue_id, comment_id, parent_comment_id FROM threads_source_records WHERE `+where, args...)
}

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
