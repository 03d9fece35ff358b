package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// sampleEvery is how close together samples of one node are kept, a little less
// than they are taken: a node that is watched is asked more often than a plot
// can show.
const sampleEvery = 40 * time.Second

// Record keeps what this node's source said: sizes, or why it gave none, which
// leaves the last sizes as they are.
func (s *Store) Record(ctx context.Context, node, source string, sizes mailqueue.Sizes, failure error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		// Of a node that was watched under this name nothing is kept.
		if err := tx.Do(ctx, "recording a sample", `INSERT INTO mailqueue_nodes
			(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
			VALUES ($1, 0, $2, 0, 0, 0, '', 0, '', 0, 0)
			ON CONFLICT (node_id) DO UPDATE SET watched = 0, source = excluded.source, state = ''`, node, source); err != nil {
			return err
		}
		return record(ctx, tx, node, sizes, failure)
	})
}

func record(ctx context.Context, tx *db.Tx, node string, sizes mailqueue.Sizes, failure error) error {
	now := db.Micros(tx.Now())
	if failure != nil {
		return tx.Do(ctx, "recording a failed sample", `UPDATE mailqueue_nodes SET error = $2,
			failing_since = CASE WHEN failing_since = 0 THEN $3 ELSE failing_since END WHERE node_id = $1`,
			node, fault.As(failure).Message, now)
	}
	if err := tx.Do(ctx, "recording a sample",
		`UPDATE mailqueue_nodes SET size = $2, error_size = $3, sampled_at = $4, error = '', failing_since = 0
		WHERE node_id = $1`, node, sizes.Size, sizes.ErrorSize, now); err != nil {
		return err
	}
	return tx.Do(ctx, "recording a sample", `INSERT INTO mailqueue_samples (node_id, at, size, error_size)
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
		WHERE NOT EXISTS (SELECT 1 FROM mailqueue_samples WHERE node_id = $1 AND at > $5)`,
		node, now, sizes.Size, sizes.ErrorSize, db.Micros(tx.Now().Add(-sampleEvery)))
}

// AboveSince returns since when a node's queue has had at least so many messages in
// all its samples; zero where the newest has fewer.
func (s *Store) AboveSince(ctx context.Context, node string, least mailqueue.Sizes) (at time.Time, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.Get(ctx, "reading since when a queue is long", []any{db.At(&at)},
			`SELECT coalesce(min(at), 0) FROM mailqueue_samples WHERE node_id = $1 AND at > coalesce(
			(SELECT max(at) FROM mailqueue_samples WHERE node_id = $1 AND (size < $2 OR error_size < $3)), 0)`,
			node, least.Size, least.ErrorSize)
	})
	return at, err
}

// History returns the course of each node's sizes since a time: for every step
// in which there are samples, the highest of each size, at the step's start.
func (s *Store) History(ctx context.Context, since time.Time, step time.Duration) (map[string][]mailqueue.Sample, error) {
	course := map[string][]mailqueue.Sample{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "reading the samples", func(row db.Row) error {
			var node string
			var n int64
			var sample mailqueue.Sample
			err := row.Scan(&node, &n, &sample.Size, &sample.ErrorSize)
			sample.At = since.Add(time.Duration(n) * step)
			course[node] = append(course[node], sample)
			return err
		}, `SELECT node_id, (at - $1) / $2 AS step, MAX(size), MAX(error_size)
			FROM mailqueue_samples WHERE at >= $1 GROUP BY node_id, step ORDER BY node_id, step`, db.Micros(since), step.Microseconds())
	})
	return course, err
}
