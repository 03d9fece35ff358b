package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// tally is what this node delivered, and what failed, since its last sample.
type tally struct{ delivered, failed atomic.Int64 }

// ended counts deliveries that ended.
func (s *Store) ended(state notify.DeliveryState, n, ofReports int) {
	s.counts.end(state, n)
	s.runs.end(state, ofReports)
	switch state {
	case notify.Delivered:
		s.tally.delivered.Add(int64(n))
	case notify.Failed, expired:
		s.tally.failed.Add(int64(n))
	}
}

// Sample keeps what this node delivered since the sample before, and how much
// waits. What cannot be kept is part of the next sample.
func (s *Store) Sample(ctx context.Context, node string) error {
	delivered, failed := s.tally.delivered.Swap(0), s.tally.failed.Swap(0)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO notify_samples (node_id, at, delivered, failed, waiting)
			SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), count(*)
			FROM (SELECT 1 FROM notify_deliveries WHERE finished_at = 0 LIMIT $5) w WHERE true
			ON CONFLICT (node_id, at) DO UPDATE SET
				delivered = notify_samples.delivered + excluded.delivered, failed = notify_samples.failed + excluded.failed`,
			node, db.Micros(tx.Now()), delivered, failed, notify.MaxCounted)
		return err
	})
	if err != nil {
		s.tally.delivered.Add(delivered)
		s.tally.failed.Add(failed)
		return fmt.Errorf("keeping a sample of the deliveries: %w", err)
	}
	return nil
}

// History returns what became of messages since a time: a sample for every step
// in which some node took one.
func (s *Store) History(ctx context.Context, since time.Time, step time.Duration) ([]notify.Sample, error) {
	return db.ReadList(ctx, s.db, "reading the samples of deliveries", func(row db.Row) (sample notify.Sample, err error) {
		var n int64
		err = row.Scan(&n, &sample.Delivered, &sample.Failed, &sample.Waiting)
		sample.At = since.Add(time.Duration(n) * step)
		return sample, err
	}, `SELECT (at - $1) / $2 AS step, CAST(SUM(delivered) AS BIGINT), CAST(SUM(failed) AS BIGINT), MAX(waiting)
		FROM notify_samples WHERE at >= $1 GROUP BY step ORDER BY step`, db.Micros(since), step.Microseconds())
}

// DeleteSamples removes up to limit samples from before a time: what retention
// calls.
func DeleteSamples(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "samples", "notify_samples", "node_id, at", "at", before, limit)
}
