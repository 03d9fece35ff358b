package cluster

import (
	"context"
	"time"

	"outrigger/internal/db"
)

// shortestGap is how long no node must have listened to be worth showing: a
// restart takes seconds, and a crash is noticed to one heartbeat.
const shortestGap = time.Minute

// Gap is a time in which no node listened: what platforms sent then is lost,
// since they do not send again.
type Gap struct {
	From time.Time // the last sign of life of any node
	To   time.Time // the start of the next one
}

// Gaps lists the gaps that ended after a time, the oldest first.
func (c *Cluster) Gaps(ctx context.Context, since time.Time) ([]Gap, error) {
	return db.ReadList(ctx, c.db, "listing the gaps", func(row db.Row) (Gap, error) {
		var from, to int64
		err := row.Scan(&from, &to)
		return Gap{db.Time(from), db.Time(to)}, err
	}, `SELECT from_at, to_at FROM cluster_gaps WHERE to_at > $1 ORDER BY from_at`, db.Micros(since))
}

// noteGap records, before a starting node is registered, since when no node
// has listened. If several nodes start at once, one of them records it.
func noteGap(ctx context.Context, tx *db.Tx) error {
	var last int64
	err := tx.Get(ctx, "noting a gap", []any{&last}, `SELECT COALESCE(MAX(beat_at), 0) FROM cluster_nodes`)
	if err != nil || last == 0 || tx.Now().Sub(db.Time(last)) <= shortestGap {
		return err
	}
	return tx.Do(ctx, "noting a gap", `INSERT INTO cluster_gaps (from_at, to_at) VALUES ($1, $2) ON CONFLICT (from_at) DO NOTHING`,
		last, db.Micros(tx.Now()))
}
