package relay

import (
	"context"

	"outrigger/internal/db"
)

// Outgoing counts the messages of all nodes that wait to be sent.
func Outgoing(ctx context.Context, tx *db.Tx) (n int, err error) {
	err = tx.Get(ctx, "counting mail that waits", []any{&n}, `SELECT COUNT(*) FROM relay_messages WHERE waiting > 0`)
	return n, err
}
