package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// UnderWay reports whether a migration is being processed.
func UnderWay(ctx context.Context, tx *db.Tx) (yes bool, err error) {
	var n int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM threads_migration WHERE phase = $1`, threads.PhaseProcessing).Scan(&n); err != nil {
		return false, fmt.Errorf("asking whether a migration is under way: %w", err)
	}
	return n > 0, nil
}
