package mailqueue

import (
	"context"
	"embed"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of the samples. It needs those of audit and cluster.
var Migrations = db.Migrations{Name: "mailqueue", FS: migrations}

// Store keeps what is known of each node's queue.
type Store struct{ db *db.DB }

// NewStore makes a Store.
func NewStore(d *db.DB) *Store { return &Store{d} }

// readings are the rows of mailqueue_nodes.
type readings struct {
	now     time.Time // the database's clock
	own     map[string]Reading
	watched []Standing
}

func (s *Store) readings(ctx context.Context) (r readings, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		r = readings{now: tx.Now(), own: map[string]Reading{}}
		rows, err := tx.Query(ctx, `SELECT node_id, watched, source, size, error_size, sampled_at, error, failing_since, state, changed_at
			FROM mailqueue_nodes ORDER BY node_id`)
		if err != nil {
			return fmt.Errorf("list the samples: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var n Standing
			var watched, sampled, failing, changed int64
			if err := rows.Scan(&n.ID, &watched, &n.Source, &n.Size, &n.ErrorSize, &sampled, &n.Error, &failing, &n.State, &changed); err != nil {
				return fmt.Errorf("list the samples: %w", err)
			}
			n.At, n.FailingAt = db.Time(sampled), db.Time(failing)
			if watched == 0 {
				r.own[n.ID] = n.Reading
				continue
			}
			n.Watched, n.BeatAt, n.ChangedAt, n.Now = true, n.At, db.Time(changed), r.now
			r.watched = append(r.watched, n)
		}
		return rows.Err()
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
		return audit.Record(ctx, tx, AuditEntry(ctx, "remove", "node", id))
	})
}

func forget(ctx context.Context, tx *db.Tx, id string) error {
	_, err := tx.Exec(ctx, `DELETE FROM mailqueue_nodes WHERE node_id = $1 AND watched = 0`, id)
	return err
}

// DeleteNodes forgets up to limit nodes that have been OFFLINE since before a
// time and had no message since then: what retention calls.
func DeleteNodes(ctx context.Context, tx *db.Tx, before time.Time, limit int) (n int64, err error) {
	ids, err := cluster.OfflineSince(ctx, tx, before, limit)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		var hadMail int64
		if err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(mail_at), 0) FROM mailqueue_nodes WHERE node_id = $1`, id).Scan(&hadMail); err != nil {
			return n, fmt.Errorf("look for messages of an offline node: %w", err)
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
