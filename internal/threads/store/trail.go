package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
)

// Trail returns what was done to the migration from a time on, the oldest first;
// of more than limit, the newest.
func (s *Store) Trail(ctx context.Context, since time.Time, limit int) (list []audit.Stored, err error) {
	list, err = db.Read(ctx, s.db, func(tx *db.Tx) ([]audit.Stored, error) {
		return audit.List(ctx, tx, audit.Visible{All: true}, audit.Filter{Area: auditArea, Object: auditObject, Since: since, Limit: limit})
	})
	if err != nil {
		return nil, fmt.Errorf("reading who did what: %w", err)
	}
	slices.Reverse(list)
	return list, nil
}
