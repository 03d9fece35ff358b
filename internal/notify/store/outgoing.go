package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
)

// Outgoing counts the messages that wait, the channels that they are for, and the
// reports whose time has come.
func Outgoing(ctx context.Context, tx *db.Tx) (messages, channels, reports int, err error) {
	err = tx.QueryRow(ctx, `SELECT COUNT(*), COUNT(DISTINCT channel_id) FROM notify_deliveries WHERE finished_at = 0`).Scan(&messages,
		&channels)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM notify_reports WHERE ask_at > 0 AND ask_at <= $1 AND enabled = 1`,
			db.Micros(tx.Now())).Scan(&reports)
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("counting messages that wait: %w", err)
	}
	return messages, channels, reports, nil
}
