package store

import (
	"context"

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
		n, err := tx.Changed(ctx, "binding a digest", `UPDATE notify_deliveries SET batch = $1
			WHERE channel_id = $2 AND finished_at = 0 AND due_at = 0 AND id IN (`+list(ids)+`)`, ids[0], deliveries[0].ChannelID)
		if err == nil && n != int64(len(ids)) {
			err = fault.New(fault.Conflict, "The messages waiting for the channel have changed.")
		}
		return err
	})
}

// Together returns the waiting deliveries that go out in one digest with d, itself
// included, at most limit: those of its digest, where it is bound to one; else
// those that the same quiet hours held for the same rules.
func (s *Store) Together(ctx context.Context, d *notify.Delivery, limit int) ([]*notify.Delivery, error) {
	return s.readQueued(ctx, func(tx *db.Tx) ([]*notify.Delivery, error) {
		const waits = ` WHERE d.channel_id = $1 AND d.finished_at = 0 AND d.due_at = 0 AND d.batch = $2`
		if d.Batch != 0 {
			return readDeliveries(ctx, tx, deliverySelect+waits+` ORDER BY d.id LIMIT $3`, d.ChannelID, d.Batch, limit)
		}
		return readDeliveries(ctx, tx, deliverySelect+waits+` AND d.held_until = $3 AND d.rules = $4 AND d.format = $5
			ORDER BY d.id LIMIT $6`,
			d.ChannelID, 0, db.Micros(d.HeldUntil), encodeIDs(d.Rules), string(d.Format), limit)
	})
}

// DigestMembers returns the deliveries that share d's digest and its end, itself
// included, the first first, at most limit. One that was cancelled before the
// digest went out ended at another time, and so did one of an earlier digest of
// the same number: its first was redelivered, and bound again.
func (s *Store) DigestMembers(ctx context.Context, d *notify.Delivery, limit int) ([]*notify.Delivery, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]*notify.Delivery, error) {
		return readDeliveries(ctx, tx, deliverySelect+` WHERE d.batch > 0 AND d.batch = $1 AND d.channel_id = $2 AND d.state = $3
			AND d.finished_at = $4 ORDER BY d.id LIMIT $5`, d.Batch, d.ChannelID, string(d.State), db.Micros(d.FinishedAt), limit)
	})
}

// CountWaiting says how many deliveries wait in a channel's queue, up to max;
// those that quiet hours hold are not in it.
func (s *Store) CountWaiting(ctx context.Context, channelID int64, max int) (n int, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.Get(ctx, "counting what waits", []any{&n}, `SELECT count(*) FROM (SELECT 1 FROM notify_deliveries
			WHERE channel_id = $1 AND finished_at = 0 AND held_until <= $2 LIMIT $3) AS waiting`, channelID, db.Micros(tx.Now()), max)
	})
	return n, err
}
