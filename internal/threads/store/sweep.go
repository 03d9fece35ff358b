package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
)

// Sweep deletes one slice of what is no longer needed: files, data sets, old
// maps. It reports whether there may be more.
func (s *Store) Sweep(ctx context.Context, lease *db.Lease) (more bool, err error) {
	for _, sweep := range []func(context.Context, *db.Lease) (bool, error){s.sweepStages, s.sweepOldMaps} {
		if more, err = sweep(ctx, lease); more || err != nil {
			return more, err
		}
	}
	return s.Uploads.sweep(ctx)
}

// sweepStages deletes a slice of a stage that is gone, or whose drafts are and
// which is not the migration's, or of the sorted runs of one that has ended.
func (s *Store) sweepStages(ctx context.Context, lease *db.Lease) (bool, error) {
	var id int64
	var state string
	var found bool
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		const unused = `(state = 'gone' OR id <> (SELECT stage_id FROM threads_migration WHERE id = 1) AND NOT EXISTS
			(SELECT 1 FROM threads_uploads a JOIN threads_uploads b ON b.id = s.mappings_id WHERE a.id = s.hierarchy_id AND a.state <> 'gone'
			AND b.state <> 'gone'))`
		found, err = tx.Find(ctx, "finding old data", []any{&id, &state}, `SELECT id, CASE WHEN `+unused+` THEN 'gone' ELSE state END
			FROM threads_stages s
			WHERE `+unused+` OR state IN ('done', 'failed') AND EXISTS (SELECT 1 FROM threads_stage_pages p WHERE p.stage_id = s.id)
			ORDER BY id LIMIT 1`)
		return err
	})
	if err != nil || !found {
		return false, err
	}
	err = s.db.WriteBulk(ctx, fenced(ctx, lease, func(tx *db.Tx) error { return s.sweepStage(ctx, tx, id, state) }))
	if err != nil {
		return false, fmt.Errorf("deleting old data: %w", err)
	}
	return true, nil
}

func (s *Store) sweepStage(ctx context.Context, tx *db.Tx, id int64, state string) error {
	if state != "gone" {
		_, err := clearPages(ctx, tx, id)
		return err
	}
	if err := tx.Do(ctx, "marking a stage", `UPDATE threads_stages SET state = 'gone' WHERE id = $1 AND state <> 'gone'`, id); err != nil {
		return err
	}
	n, err := clearStage(ctx, tx, id)
	if err != nil || n > 0 {
		return err
	}
	return tx.Do(ctx, "deleting a stage", `DELETE FROM threads_stages WHERE id = $1`, id)
}

// sweepOldMaps deletes a slice of the maps that were kept for a reader, once
// there is none.
func (s *Store) sweepOldMaps(ctx context.Context, lease *db.Lease) (bool, error) {
	there := false
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM threads_old_maps) OR EXISTS (SELECT 1 FROM threads_snapshots
			WHERE expires_at <= $1)`,
			db.Micros(tx.Now())).Scan(&there)
	})
	if err != nil || !there {
		return false, err
	}
	var n int64
	err = s.db.WriteBulk(ctx, fenced(ctx, lease, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM threads_snapshots WHERE expires_at <= $1`, db.Micros(tx.Now())); err != nil {
			return err
		}
		// Who begins to read now needs none of these: they were over before.
		n, err = tx.Exec(ctx, `DELETE FROM threads_old_maps WHERE target_id = $1 AND NOT EXISTS (SELECT 1 FROM threads_snapshots n
			WHERE n.target_id = $1)
			AND issue_id <= (SELECT max(issue_id) FROM (SELECT issue_id FROM threads_old_maps WHERE target_id = $1 ORDER BY issue_id
			LIMIT $2) AS first)`,
			s.id, sweepMaps)
		return err
	}))
	if err != nil {
		return false, fmt.Errorf("deleting old maps: %w", err)
	}
	return n > 0, nil
}

// sweepMaps is how many old maps go at once.
const sweepMaps = 500

// sweepUploadRows is how many rows go in one transaction: 4 MiB.
const sweepUploadRows = 4

// sweep deletes one slice of what is gone or has expired, and reports whether
// there may be more.
func (s *Uploads) sweep(ctx context.Context) (more bool, err error) {
	var id int64
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT coalesce(min(id), 0) FROM threads_uploads WHERE state = 'gone' OR state = 'draft' AND expires_at <= $1`,
			db.Micros(tx.Now())).Scan(&id)
	})
	if err != nil || id == 0 {
		return false, err
	}
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		// It may have been taken, or added to, since it was found.
		n, err := tx.Exec(ctx, `UPDATE threads_uploads SET state = 'gone' WHERE id = $1 AND (state = 'gone' OR state = 'draft'
			AND expires_at <= $2)`, id, db.Micros(tx.Now()))
		if err != nil || n == 0 {
			return err
		}
		n, err = tx.Exec(ctx, `DELETE FROM threads_upload_rows WHERE upload_id = $1 AND start IN
			(SELECT start FROM threads_upload_rows WHERE upload_id = $1 ORDER BY start LIMIT $2)`, id, sweepUploadRows)
		if err == nil && n == 0 {
			_, err = tx.Exec(ctx, `DELETE FROM threads_uploads WHERE id = $1`, id)
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("deleting an upload: %w", err)
	}
	return true, nil
}
