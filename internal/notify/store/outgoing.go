package store

import (
	"context"

	"outrigger/internal/db"
)

// Outgoing counts the messages that wait, the channels that they are for, and the
// reports whose time has come.
func Outgoing(ctx context.Context, tx *db.Tx) (messages, channels, reports int, err error) {
	err = tx.Get(ctx, "counting messages that wait", []any{&messages, &channels, &reports},
		`SELECT COUNT(*), COUNT(DISTINCT channel_id),
			(SELECT COUNT(*) FROM notify_reports WHERE ask_at > 0 AND ask_at <= $1 AND enabled = 1)
		FROM notify_deliveries WHERE finished_at = 0`, db.Micros(tx.Now()))
	return messages, channels, reports, err
}
