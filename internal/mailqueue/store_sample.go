package mailqueue

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// sampleEvery is how close together samples of one node are kept, a little less
// than they are taken: a node that is watched is asked more often than a plot
// can show.
const sampleEvery = 40 * time.Second

// WatchedSilence is for how long the source of a node that is only watched may
// give nothing before the node is OFFLINE: as long as a node of Outrigger's own
// may be silent.
const WatchedSilence = 20 * time.Second

// Record keeps what this node's source said: sizes, or why it gave none, which
// leaves the last sizes as they are.
func (s *Store) Record(ctx context.Context, node, source string, sizes Sizes, failure error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		// Of a node that was watched under this name nothing is kept.
		if _, err := tx.Exec(ctx, `INSERT INTO mailqueue_nodes
			(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
			VALUES ($1, 0, $2, 0, 0, 0, '', 0, '', 0, 0)
			ON CONFLICT (node_id) DO UPDATE SET watched = 0, source = excluded.source, state = ''`, node, source); err != nil {
			return fmt.Errorf("record a sample: %w", err)
		}
		return record(ctx, tx, node, sizes, failure)
	})
}

func record(ctx context.Context, tx *db.Tx, node string, sizes Sizes, failure error) error {
	now := db.Micros(tx.Now())
	if failure != nil {
		_, err := tx.Exec(ctx, `UPDATE mailqueue_nodes SET error = $2,
			failing_since = CASE WHEN failing_since = 0 THEN $3 ELSE failing_since END WHERE node_id = $1`,
			node, fault.As(failure).Message, now)
		if err != nil {
			return fmt.Errorf("record a failed sample: %w", err)
		}
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE mailqueue_nodes SET size = $2, error_size = $3, sampled_at = $4, error = '', failing_since = 0
		WHERE node_id = $1`, node, sizes.Size, sizes.ErrorSize, now); err != nil {
		return fmt.Errorf("record a sample: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO mailqueue_samples (node_id, at, size, error_size)
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
		WHERE NOT EXISTS (SELECT 1 FROM mailqueue_samples WHERE node_id = $1 AND at > $5)`,
		node, now, sizes.Size, sizes.ErrorSize, db.Micros(tx.Now().Add(-sampleEvery))); err != nil {
		return fmt.Errorf("record a sample: %w", err)
	}
	return nil
}

// WatchedNode is a node that is only watched.
type WatchedNode struct {
	ID     string
	Source string
}

// KeepWatched makes the nodes that are only watched those of list. One that is
// new is OFFLINE until it answers. The lease is the watcher's.
func (s *Store) KeepWatched(ctx context.Context, lease *db.Lease, list []WatchedNode) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
			return err
		}
		kept := map[string]bool{}
		for _, n := range list {
			kept[n.ID] = true
			// A node of Outrigger's own goes before one of its name.
			if _, err := tx.Exec(ctx, `INSERT INTO mailqueue_nodes
				(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
				VALUES ($1, 1, $2, 0, 0, 0, '', 0, $3, $4, 0)
				ON CONFLICT (node_id) DO UPDATE SET source = excluded.source WHERE mailqueue_nodes.watched = 1`,
				n.ID, n.Source, cluster.Offline, db.Micros(tx.Now())); err != nil {
				return fmt.Errorf("keep a watched node: %w", err)
			}
		}
		stored, err := watchedIDs(ctx, tx)
		if err != nil {
			return err
		}
		for _, id := range stored {
			if !kept[id] {
				if _, err := tx.Exec(ctx, `DELETE FROM mailqueue_nodes WHERE node_id = $1 AND watched = 1`, id); err != nil {
					return fmt.Errorf("forget a watched node: %w", err)
				}
			}
		}
		return nil
	})
}

func watchedIDs(ctx context.Context, tx *db.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT node_id FROM mailqueue_nodes WHERE watched = 1`)
	if err != nil {
		return nil, fmt.Errorf("list the watched nodes: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list the watched nodes: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// RecordWatched is Record for a node that is only watched: it is ACTIVE while
// its source answers, OFFLINE when it has not for WatchedSilence.
func (s *Store) RecordWatched(ctx context.Context, lease *db.Lease, node string, sizes Sizes, failure error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
			return err
		}
		state, lastHeard := cluster.Active, tx.Now()
		if failure != nil {
			state, lastHeard = cluster.Offline, tx.Now().Add(-WatchedSilence)
		}
		n, err := tx.Exec(ctx, `UPDATE mailqueue_nodes SET
			changed_at = CASE WHEN state <> $2 AND sampled_at <= $4 THEN $3 ELSE changed_at END,
			state = CASE WHEN sampled_at <= $4 THEN $2 ELSE state END
			WHERE node_id = $1 AND watched = 1`,
			node, state, db.Micros(tx.Now()), db.Micros(lastHeard))
		if err != nil {
			return fmt.Errorf("change the state of a watched node: %w", err)
		}
		if n == 0 {
			return nil // a node of Outrigger's own has taken the name
		}
		return record(ctx, tx, node, sizes, failure)
	})
}

// NoteMail notes the nodes that are OFFLINE and have messages, so that they are
// not forgotten. The lease is the caretaker's.
func (s *Store) NoteMail(ctx context.Context, lease *db.Lease, nodes []string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
			return err
		}
		for _, id := range nodes {
			if _, err := tx.Exec(ctx, `INSERT INTO mailqueue_nodes
				(node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at, mail_at)
				VALUES ($1, 0, '', 0, 0, 0, '', 0, '', 0, $2)
				ON CONFLICT (node_id) DO UPDATE SET mail_at = excluded.mail_at`, id, db.Micros(tx.Now())); err != nil {
				return fmt.Errorf("note an offline node's messages: %w", err)
			}
		}
		return nil
	})
}
