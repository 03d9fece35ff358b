package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// loadIndex returns the blocks as the transaction sees them.
func (s *Source) loadIndex(ctx context.Context, tx *db.Tx, st threads.SourceState) (*index, error) {
	if x := s.index.Load(); x != nil && x.generation == st.Generation {
		return x, nil
	}
	blocks, err := db.List(ctx, tx, "blocks", func(row db.Row) (b block, err error) {
		err = row.Scan(&b.first.issue, &b.first.comment, &b.records)
		return b, err
	}, `SELECT issue_id, comment_id, records FROM threads_source_blocks ORDER BY issue_id, comment_id`)
	if err != nil {
		return nil, err
	}
	return newIndex(st.Generation, blocks), nil
}

// keepIndex remembers the blocks of a generation that is committed.
func (s *Source) keepIndex(x *index) {
	for {
		old := s.index.Load()
		if old != nil && old.generation >= x.generation || s.index.CompareAndSwap(old, x) {
			return
		}
	}
}

// reindex counts records that came and went, cuts blocks that have grown too
// large, drops those that are empty, and counts the generation up.
func (s *Source) reindex(ctx context.Context, tx *db.Tx, st threads.SourceState, came, gone []key) error {
	x, err := s.loadIndex(ctx, tx, st)
	if err != nil {
		return err
	}
	blocks, touched := recount(x.blocks, came, gone)
	var dropped [][]any
	var put, left []block
	next := 0
	for i, b := range blocks {
		if next == len(touched) || touched[next] != i {
			left = append(left, b)
			continue
		}
		next++
		if b.records == 0 && i > 0 {
			dropped = append(dropped, []any{b.first.issue, b.first.comment})
			continue
		}
		cut, err := cutBlock(ctx, tx, b)
		if err != nil {
			return err
		}
		put, left = append(put, cut...), append(left, cut...)
	}
	if err := tx.Each(ctx, "dropping blocks",
		`DELETE FROM threads_source_blocks WHERE issue_id = $1 AND comment_id = $2`, dropped, nil); err != nil {
		return err
	}
	if err := putBlocks(ctx, tx, put); err != nil {
		return err
	}
	return s.commitIndex(ctx, tx, newIndex(st.Generation+1, left))
}

// cutBlock cuts a block that has grown too large into ones of blockSize.
func cutBlock(ctx context.Context, tx *db.Tx, b block) ([]block, error) {
	blocks := []block{b}
	for last := &blocks[0]; last.records > maxBlock; last = &blocks[len(blocks)-1] {
		next := block{records: last.records - blockSize}
		err := tx.Get(ctx, "cutting a block", []any{&next.first.issue, &next.first.comment},
			`SELECT issue_id, comment_id FROM threads_source_records
			WHERE (issue_id, comment_id) >= ($1, $2) ORDER BY issue_id, comment_id LIMIT 1 OFFSET $3`,
			last.first.issue, last.first.comment, blockSize)
		if err != nil {
			return nil, err
		}
		last.records = blockSize
		blocks = append(blocks, next)
	}
	return blocks, nil
}

func putBlocks(ctx context.Context, tx *db.Tx, blocks []block) error {
	return db.Insert[block]{
		Into: `threads_source_blocks (issue_id, comment_id, records)`,
		Columns: []db.Column[block]{
			db.Number(func(b block) int64 { return b.first.issue }),
			db.Number(func(b block) int64 { return b.first.comment }),
			db.Number(func(b block) int64 { return b.records }),
		},
		OnConflict: `ON CONFLICT (issue_id, comment_id) DO UPDATE SET records = excluded.records`,
	}.Rows(ctx, tx, "storing blocks", blocks)
}

// commitIndex notes the new generation and the total, and has this node
// remember the blocks once that is committed.
func (s *Source) commitIndex(ctx context.Context, tx *db.Tx, x *index) error {
	if err := tx.Do(ctx, "counting the records", `UPDATE threads_source_state SET generation = $1, records = $2, changed_at = $3`,
		x.generation, x.total(), db.Micros(tx.Now())); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.keepIndex(x) })
	return nil
}
