package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// UnderWay reports whether a migration is being processed.
func UnderWay(ctx context.Context, tx *db.Tx) (yes bool, err error) {
	var n int
	err = tx.Get(ctx, "asking whether a migration is under way", []any{&n},
		`SELECT COUNT(*) FROM threads_migration WHERE phase = $1`, threads.PhaseProcessing)
	return n > 0, err
}
