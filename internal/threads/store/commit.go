package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// Commit stores what a worker did, with how the migration stands then, in one
// transaction: threads.ErrOvertaken when the worker was stopped or replaced.
// When m has left PhaseProcessing, the worker's turn is over. What another
// target has now is stored also for a worker that was stopped, while no other
// has its lease: it has been written there.
func (s *Store) Commit(ctx context.Context, lease *db.Lease, m *threads.Migration, w threads.Written) error {
	after, overtaken := threads.Migration{}, false
	err := s.db.WriteBulk(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		after = m.Next()
		stored, err := readMigration(ctx, tx, tx.ForUpdate())
		if err != nil {
			return err
		}
		if overtaken = stored.Epoch != m.Epoch || stored.Phase != threads.PhaseProcessing; overtaken {
			return s.written(ctx, tx, &after, threads.Written{Put: w.Put})
		}
		if err := s.written(ctx, tx, &after, w); err != nil {
			return err
		}
		if err := noteBefore(ctx, tx, &stored, w.Add); err != nil {
			return err
		}
		if after.Phase == threads.PhaseCompleted { // a migration ends with a comparison
			if _, err := s.beginVerify(ctx, tx, &after, true); err != nil {
				return err
			}
		}
		if after.Phase == threads.PhaseEmpty { // it is undone
			if err := dropStage(ctx, tx, stored.Stage); err != nil {
				return err
			}
		}
		if after.Phase != threads.PhaseProcessing {
			after.Epoch++
			tx.AfterCommit(s.Changed)
		}
		after.Worked = workedUntil(&stored, tx.Now())
		return writeMigration(ctx, tx, &after)
	}))
	if err == nil && overtaken {
		err = threads.ErrOvertaken
	}
	if err == nil {
		*m = after
	}
	return err
}

func (s *Store) written(ctx context.Context, tx *db.Tx, m *threads.Migration, w threads.Written) error {
	if len(w.Add)+len(w.Undo)+len(w.Put) > 0 {
		maps, err := s.writeMaps(ctx, tx)
		if err != nil {
			return err
		}
		if err := maps.add(ctx, w.Add); err != nil {
			return err
		}
		kept, err := maps.undo(ctx, w.Undo)
		if err != nil {
			return err
		}
		m.Kept += int64(len(kept))
		w.Left = append(w.Left, kept...)
		if err := maps.put(ctx, w.Put); err != nil {
			return err
		}
	}
	if err := forget(ctx, tx, m.Stage, w.Forget); err != nil {
		return err
	}
	if err := leave(ctx, tx, w.Left); err != nil {
		return err
	}
	changed := slices.Clone(w.Chunks)
	for _, n := range w.Add {
		if len(n.Closing) == 0 {
			continue
		}
		n.Chunk.RefuseComments(n.Place, n.Closing, threads.Cycle)
		m.ParentMaps -= int64(len(n.Closing))
		m.Err(threads.Cycle, threads.Answer{}, int64(len(n.Closing)))
		if !slices.Contains(changed, n.Chunk) {
			changed = append(changed, n.Chunk)
		}
	}
	for _, c := range changed {
		if err := tx.Do(ctx, "noting errors", `UPDATE threads_chunks SET errors = $3, data = $4 WHERE stage_id = $1 AND number = $2`,
			m.Stage, c.Number, c.Errors, c.Encode()); err != nil {
			return err
		}
	}
	return nil
}
