package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

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
			var err error
			if b.Oldest, err = oldestWaiting(ctx, tx, shards, oldest.Int64); err != nil {
				return err
			}
		}
		return s.countChannels(ctx, tx, shards, b.Channels)
	})
	return b, err
}

// oldestWaiting is since when the oldest delivery has waited to be sent, of which
// first is the lowest id. What quiet hours hold waits since they ended.
func oldestWaiting(ctx context.Context, tx *db.Tx, shards []int, first int64) (time.Time, error) {
	const since = `SELECT created_at, queued_at, held_until FROM notify_deliveries WHERE finished_at = 0 AND `
	var created, queued, held int64
	err := tx.QueryRow(ctx, since+`id = $1`, first).Scan(&created, &queued, &held)
	if err == nil && held > db.Micros(tx.Now()) {
		err = tx.QueryRow(ctx, since+`held_until <= $1 AND `+inShards("channel_id", shards)+` ORDER BY id LIMIT 1`, db.Micros(tx.Now())).
			Scan(&created, &queued, &held)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the oldest delivery: %w", err)
	}
	return db.Time(max(created, queued, held)), nil
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
