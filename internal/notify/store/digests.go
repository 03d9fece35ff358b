package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// BindDigest binds waiting deliveries of a channel together, to be sent in one
// digest whose result is that of each, now and in every retry. The first one's
// id names it. fault.Conflict: the shard has gone to another node, or one of
// them does not wait there any more; nothing was written.
func (s *Store) BindDigest(ctx context.Context, lease string, fence int64, deliveries []*notify.Delivery) error {
	ids := make([]int64, len(deliveries))
	for i, d := range deliveries {
		ids[i] = d.ID
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease, fence); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE notify_deliveries SET batch = $1
			WHERE channel_id = $2 AND finished_at = 0 AND due_at = 0 AND id IN (`+list(ids)+`)`, ids[0], deliveries[0].ChannelID)
		if err != nil {
			return fmt.Errorf("binding a digest: %w", err)
		}
		if n != int64(len(ids)) {
			return fault.New(fault.Conflict, "What waits on the channel has changed.")
		}
		return nil
	})
}

// CountWaiting says how many deliveries wait in a channel's queue, up to max.
func (s *Store) CountWaiting(ctx context.Context, channelID int64, max int) (n int, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM notify_deliveries
			WHERE channel_id = $1 AND finished_at = 0 LIMIT $2) AS waiting`, channelID, max).Scan(&n)
		if err != nil {
			return fmt.Errorf("counting what waits: %w", err)
		}
		return nil
	})
	return n, err
}
