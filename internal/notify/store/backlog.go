package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// Backlog counts what waits on the channels of the shards.
func (s *Store) Backlog(ctx context.Context, shards []int) (b notify.Backlog, err error) {
	b.Channels = map[string]int{"open": 0, "waiting": 0, "unreachable": 0, "broken": 0}
	if len(shards) == 0 {
		return b, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var oldest sql.NullInt64
		if err := tx.QueryRow(ctx, `SELECT count(*), min(id) FROM notify_deliveries WHERE finished_at = 0 AND `+
			inShards("channel_id", shards)).Scan(&b.Waiting, &oldest); err != nil {
			return fmt.Errorf("counting what waits: %w", err)
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM notify_deliveries d WHERE d.state = 'deciding' AND d.id IN (`+undecidedIDs+`) AND `+
			inShards("d.channel_id", shards)).Scan(&b.Deciding); err != nil {
			return fmt.Errorf("counting what is undecided: %w", err)
		}
		b.Waiting -= b.Deciding
		if oldest.Valid {
			var created, queued int64
			err := tx.QueryRow(ctx, `SELECT created_at, queued_at FROM notify_deliveries WHERE id = $1`, oldest.Int64).Scan(&created, &queued)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("reading the oldest delivery: %w", err)
			}
			b.Oldest = db.Time(max(created, queued))
		}
		return s.countChannels(ctx, tx, shards, b.Channels)
	})
	return b, err
}

func (s *Store) countChannels(ctx context.Context, tx *db.Tx, shards []int, to map[string]int) error {
	rows, err := tx.Query(ctx, `SELECT c.state, c.gate_step, c.refused, c.failing_since FROM notify_channels c
		WHERE length(c.url) > 0 AND `+inShards("c.id", shards))
	if err != nil {
		return fmt.Errorf("counting channels: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c notify.Channel
		var failing int64
		if err := rows.Scan(&c.State, &c.GateStep, &c.Refused, &failing); err != nil {
			return fmt.Errorf("counting channels: %w", err)
		}
		c.FailingSince = db.Time(failing)
		state := c.Status(tx.Now()).State
		if state == "ok" {
			state = string(notify.Open)
		}
		to[state]++
	}
	return rows.Err()
}
