package relay

import (
	"context"
	"fmt"

	"outrigger/internal/db"
)

// Outgoing counts the messages of all nodes that wait to be sent.
func Outgoing(ctx context.Context, tx *db.Tx) (n int, err error) {
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM relay_messages WHERE waiting > 0`).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting mail that waits: %w", err)
	}
	return n, nil
}
