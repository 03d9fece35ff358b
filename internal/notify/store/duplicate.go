package store

import (
	"context"
	"database/sql"
	"errors"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// nameDuplicate says which event a webhook was that came in before. The webhook
// is acknowledged whether that is found or not.
func (s *Store) nameDuplicate(ctx context.Context, r *notify.Receipt) {
	requestID, fingerprint := (&eventRow{receipt: r}).identity()
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT id FROM notify_events WHERE fingerprint = $1
			UNION ALL SELECT id FROM notify_events WHERE connection = $2 AND request_id = $3 LIMIT 1`,
			fingerprint, r.Connection, requestID).Scan(&r.DuplicateOf)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) && ctx.Err() == nil {
		s.log.Warn("a webhook that came in before is acknowledged without the id of its event", "error", err)
	}
}
