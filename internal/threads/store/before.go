package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// Intend notes what an issue has, now, of the comments that news gives parents,
// before a worker of a stage writes news to another target: threads.ErrOvertaken
// when the worker, who began in an epoch, was stopped or replaced. What was noted
// before another write of the same news stays, unless it was changed since.
func (s *Store) Intend(ctx context.Context, lease *db.Lease, stage, epoch int64, at threads.Place, now, news threads.ParentMap) error {
	return s.db.Write(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		m, err := readMigration(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		if m.Epoch != epoch || m.Phase != threads.PhaseProcessing {
			return threads.ErrOvertaken
		}
		before := now.Of(news)
		var text string
		noted, err := tx.Find(ctx, "reading what an issue had before", []any{&text},
			`SELECT parents FROM threads_before WHERE stage_id = $1 AND chunk = $2 AND place = $3`, stage, at.Chunk, at.Issue)
		if err != nil {
			return err
		}
		if noted {
			u := threads.Undo{IssueMap: threads.IssueMap{Parents: news}}
			if u.Before, err = threads.ParseParentMap([]byte(text)); err != nil {
				return fmt.Errorf("reading what an issue had before: %w", err)
			}
			undone, _ := u.Of(now)
			before = undone.Of(news)
		}
		return tx.Do(ctx, "noting what an issue had before", `INSERT INTO threads_before (stage_id, chunk, place, parents) VALUES ($1, $2, $3, $4)
			ON CONFLICT (stage_id, chunk, place) DO UPDATE SET parents = excluded.parents`, stage, at.Chunk, at.Issue,
			string(before.AppendJSON(nil)))
	}))
}

// noteBefore stores what issues of this database had, those that had something.
// Issues that m counts as done are passed over: their commit comes again, after
// its answer was lost.
func noteBefore(ctx context.Context, tx *db.Tx, m *threads.Migration, news []*threads.News) error {
	var had []*threads.News
	for _, n := range news {
		if len(n.Before) > 0 && !m.Done(threads.Place{Chunk: n.Chunk.Number, Issue: int64(n.Place)}) {
			had = append(had, n)
		}
	}
	return db.Insert[*threads.News]{
		Into: `threads_before (stage_id, chunk, place, parents)`,
		Columns: []db.Column[*threads.News]{
			db.Number(func(*threads.News) int64 { return m.Stage }),
			db.Number(func(n *threads.News) int64 { return n.Chunk.Number }),
			db.Number(func(n *threads.News) int64 { return int64(n.Place) }),
			db.Text(func(n *threads.News) string { return string(n.Before.AppendJSON(nil)) }),
		},
	}.Rows(ctx, tx, "noting what issues had before", had)
}

// Before returns what the issues of a chunk had before they were written, by their
// places in it.
func (s *Store) Before(ctx context.Context, stage, chunk int64) (before map[int64]threads.ParentMap, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		before = map[int64]threads.ParentMap{}
		return tx.EachRow(ctx, fmt.Sprintf("reading what the issues of chunk %d had before", chunk), func(row db.Row) error {
			var place int64
			var text []byte
			if err := row.Scan(&place, &text); err != nil {
				return err
			}
			parents, err := threads.ParseParentMap(text)
			before[place] = parents
			return err
		}, `SELECT place, parents FROM threads_before WHERE stage_id = $1 AND chunk = $2`, stage, chunk)
	})
	return before, err
}

// LastBefore is the last place of a data set that Before knows something of; ok
// reports whether there is one.
func (s *Store) LastBefore(ctx context.Context, stage int64) (at threads.Place, ok bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		ok, err = tx.Find(ctx, "finding the last issue to undo", []any{&at.Chunk, &at.Issue},
			`SELECT chunk, place FROM threads_before WHERE stage_id = $1 ORDER BY chunk DESC, place DESC LIMIT 1`, stage)
		return err
	})
	return at, ok, err
}

// forget deletes what issues had before.
func forget(ctx context.Context, tx *db.Tx, stage int64, places []threads.Place) error {
	for _, at := range places {
		if err := tx.Do(ctx, "forgetting what an issue had before",
			`DELETE FROM threads_before WHERE stage_id = $1 AND chunk = $2 AND place = $3`, stage, at.Chunk,
			at.Issue); err != nil {
			return err
		}
		if err := tx.Do(ctx, "forgetting what undoing has left",
			`DELETE FROM threads_undo_left WHERE chunk = $1 AND place = $2`, at.Chunk, at.Issue); err != nil {
			return err
		}
	}
	return nil
}

// clearBefore deletes what the issues of some chunks of a data set had before, and
// says how many issues.
func clearBefore(ctx context.Context, tx *db.Tx, stage int64) (int64, error) {
	return tx.Changed(ctx, "deleting what issues had before", `DELETE FROM threads_before WHERE stage_id = $1 AND chunk <
		(SELECT min(chunk) FROM threads_before WHERE stage_id = $1) + $2`, stage, clearChunksBefore)
}

// clearChunksBefore is how many chunks' issues clearBefore takes: up to 1,000 a chunk.
const clearChunksBefore = 4
