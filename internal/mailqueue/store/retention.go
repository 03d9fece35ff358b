package store

import (
	"context"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
)

// DeleteNodes forgets up to limit nodes that have been OFFLINE since before a
// time and had no message since then: what retention calls.
func DeleteNodes(ctx context.Context, tx *db.Tx, before time.Time, limit int) (n int64, err error) {
	ids, err := cluster.OfflineSince(ctx, tx, before, limit)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		var hadMail int64
		if err := tx.Get(ctx, "looking for messages of an offline node", []any{&hadMail},
			`SELECT COALESCE(MAX(mail_at), 0) FROM mailqueue_nodes WHERE node_id = $1`, id); err != nil {
			return n, err
		}
		if hadMail >= db.Micros(before) {
			continue
		}
		if err := cluster.Remove(ctx, tx, id); err != nil {
			return n, err
		}
		if err := forget(ctx, tx, id); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// DeleteSamples removes up to limit samples from before a time: what retention
// calls.
func DeleteSamples(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM mailqueue_samples WHERE (node_id, at) IN
		(SELECT node_id, at FROM mailqueue_samples WHERE at < $1 ORDER BY at LIMIT $2)`, db.Micros(before), limit)
}

// Remover deletes messages of the relay: *relay.Queue.
type Remover interface {
	Remove(ctx context.Context, tx *db.Tx, ids []int64) error
}

// DeleteErrors returns what retention calls to remove up to limit messages that
// wait for no recipient any more and failed before a time, the oldest first.
func DeleteErrors(queue Remover) func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return func(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
		ids, err := oldErrors(ctx, tx, before, limit)
		if err != nil {
			return 0, err
		}
		return int64(len(ids)), queue.Remove(ctx, tx, ids)
	}
}

func oldErrors(ctx context.Context, tx *db.Tx, before time.Time, limit int) (ids []int64, err error) {
	q := `SELECT id FROM relay_messages WHERE failed > 0 AND waiting = 0 AND failed_at < $1
		ORDER BY failed_at, id LIMIT $2` + tx.ForUpdate() // an administrator may resend one meanwhile
	return db.List(ctx, tx, "finding old mail errors", db.Value[int64], q, db.Micros(before), limit)
}
