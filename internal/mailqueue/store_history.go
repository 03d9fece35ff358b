package mailqueue

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
)

// Sample is the sizes of a queue at a time.
type Sample struct {
	At time.Time
	Sizes
}

// History gives the course of each node's sizes since a time: for every step
// in which there are samples, the highest of each size, at the step's start.
func (s *Store) History(ctx context.Context, since time.Time, step time.Duration) (map[string][]Sample, error) {
	course := map[string][]Sample{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		clear(course)
		rows, err := tx.Query(ctx, `SELECT node_id, (at - $1) / $2 AS step, MAX(size), MAX(error_size)
			FROM mailqueue_samples WHERE at >= $1 GROUP BY node_id, step ORDER BY node_id, step`, db.Micros(since), step.Microseconds())
		if err != nil {
			return fmt.Errorf("read the samples: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var node string
			var n int64
			var sample Sample
			if err := rows.Scan(&node, &n, &sample.Size, &sample.ErrorSize); err != nil {
				return fmt.Errorf("read the samples: %w", err)
			}
			sample.At = since.Add(time.Duration(n) * step)
			course[node] = append(course[node], sample)
		}
		return rows.Err()
	})
	return course, err
}
