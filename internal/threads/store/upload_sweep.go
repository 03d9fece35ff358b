package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
)

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
