package store

import (
	"context"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// KeepWatched makes the nodes that are only watched those of list. One that is
// new is OFFLINE until it answers. The lease is the watcher's.
func (s *Store) KeepWatched(ctx context.Context, lease *db.Lease, list []mailqueue.WatchedNode) error {
	return s.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		kept := map[string]bool{}
		for _, n := range list {
			kept[n.ID] = true
			// A node of Outrigger's own goes before one of its name.
			if err := tx.Do(ctx, "saving a watched node", `INSERT INTO mailqueue_nodes
				(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
				VALUES ($1, 1, $2, 0, 0, 0, '', 0, $3, $4, 0)
				ON CONFLICT (node_id) DO UPDATE SET source = excluded.source WHERE mailqueue_nodes.watched = 1`,
				n.ID, n.Source, cluster.Offline, db.Micros(tx.Now())); err != nil {
				return err
			}
		}
		stored, err := watchedIDs(ctx, tx)
		if err != nil {
			return err
		}
		for _, id := range stored {
			if !kept[id] {
				if err := tx.Do(ctx, "removing a watched node", `DELETE FROM mailqueue_nodes WHERE node_id = $1 AND watched = 1`, id); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

func watchedIDs(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.List(ctx, tx, "listing the watched nodes", db.Value[string], `SELECT node_id FROM mailqueue_nodes WHERE watched = 1`)
}

// RecordWatched is Record for a node that is only watched: it is ACTIVE while
// its source answers, OFFLINE when it has not for WatchedSilence.
func (s *Store) RecordWatched(ctx context.Context, lease *db.Lease, node string, sizes mailqueue.Sizes, failure error) error {
	return s.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		state, lastHeard := cluster.Active, tx.Now()
		if failure != nil {
			state, lastHeard = cluster.Offline, tx.Now().Add(-mailqueue.WatchedSilence)
		}
		n, err := tx.Changed(ctx, "changing the state of a watched node", `UPDATE mailqueue_nodes SET
			changed_at = CASE WHEN state <> $2 AND sampled_at <= $4 THEN $3 ELSE changed_at END,
			state = CASE WHEN sampled_at <= $4 THEN $2 ELSE state END
			WHERE node_id = $1 AND watched = 1`,
			node, state, db.Micros(tx.Now()), db.Micros(lastHeard))
		if err != nil || n == 0 { // a node of Outrigger's own has taken the name
			return err
		}
		return record(ctx, tx, node, sizes, failure)
	}))
}
