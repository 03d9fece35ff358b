package store

import (
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// Readings returns what is known of the queue of every node.
func (s *Store) Readings(ctx context.Context) (r mailqueue.Readings, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		r = mailqueue.Readings{Now: tx.Now(), Own: map[string]mailqueue.Reading{}}
		return tx.EachRow(ctx, "listing the samples", func(row db.Row) error {
			var n mailqueue.NodeStatus
			var watched int64
			if err := row.Scan(&n.ID, &watched, &n.Source, &n.Size, &n.ErrorSize, db.At(&n.At), &n.Error,
				db.At(&n.FailingAt), &n.State, db.At(&n.ChangedAt)); err != nil {
				return err
			}
			if watched == 0 {
				r.Own[n.ID] = n.Reading
				return nil
			}
			n.Watched, n.BeatAt, n.Now = true, n.At, r.Now
			r.Watched = append(r.Watched, n)
			return nil
		}, `SELECT node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at
			FROM mailqueue_nodes ORDER BY node_id`)
	})
	return r, err
}

// Forget takes a node off the list for good, with what is known of its queue;
// its samples go with their time. Errors are those of cluster.Remove.
func (s *Store) Forget(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := cluster.Remove(ctx, tx, id); err != nil {
			return err
		}
		if err := forget(ctx, tx, id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, mailqueue.AuditEntry(ctx, "remove", "node", id))
	})
}

func forget(ctx context.Context, tx *db.Tx, id string) error {
	const what = "forgetting the mail queue of a node"
	if err := tx.Do(ctx, what, `DELETE FROM mailqueue_nodes WHERE node_id = $1 AND watched = 0`, id); err != nil {
		return err
	}
	return tx.Do(ctx, what, `DELETE FROM relay_queues WHERE node_id = $1 AND size = 0 AND error_size = 0`, id)
}

// NoteMail notes the nodes that are OFFLINE and have messages, so that they are
// not forgotten. The lease is the reaper's.
func (s *Store) NoteMail(ctx context.Context, lease *db.Lease, nodes []string) error {
	return s.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		for _, id := range nodes {
			if err := tx.Do(ctx, "noting an offline node's messages", `INSERT INTO mailqueue_nodes
				(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
				VALUES ($1, 0, '', 0, 0, 0, '', 0, '', 0, $2)
				ON CONFLICT (node_id) DO UPDATE SET mail_at = excluded.mail_at`, id, db.Micros(tx.Now())); err != nil {
				return err
			}
		}
		return nil
	}))
}
