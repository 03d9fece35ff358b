package store

import (
	"context"
	"database/sql"
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
		var first sql.NullInt64
		if err := tx.Get(ctx, "counting what waits", []any{&b.Waiting, &first}, `SELECT count(*),
			min(CASE WHEN id IN (`+movedIDs+`) THEN NULL ELSE id END) FROM notify_deliveries
			WHERE finished_at = 0 AND `+inShards("channel_id", shards)); err != nil {
			return err
		}
		if err := tx.Get(ctx, "counting what is undecided", []any{&b.Deciding}, `SELECT count(*) FROM notify_deliveries d
			WHERE d.state = 'deciding' AND d.id IN (`+undecidedIDs+`) AND `+inShards("d.channel_id", shards)); err != nil {
			return err
		}
		b.Waiting -= b.Deciding
		var err error
		if b.Oldest, err = oldestWaiting(ctx, tx, shards, first.Int64); err != nil {
			return err
		}
		return s.countChannels(ctx, tx, shards, b.Channels)
	})
	return b, err
}

// movedIDs are the deliveries that do not wait since their event came: what was
// put back by hand, and what quiet hours hold or held. They have indexes of their
// own, so that not the rows of all that waits are read for the oldest.
const movedIDs = `SELECT id FROM notify_deliveries WHERE queued_at > 0 AND finished_at = 0
	UNION ALL SELECT id FROM notify_deliveries WHERE held_until > 0 AND finished_at = 0`

// oldestWaiting is since when the oldest delivery has waited to be sent. first is
// the lowest id of those that wait since their event came; 0: there is none. What
// quiet hours hold waits since they ended.
func oldestWaiting(ctx context.Context, tx *db.Tx, shards []int, first int64) (time.Time, error) {
	var since, moved sql.NullInt64
	const what = "reading the oldest delivery"
	_, err := tx.Find(ctx, what, []any{&since}, `SELECT created_at FROM notify_deliveries WHERE id = $1`, first)
	if err == nil {
		err = tx.Get(ctx, what, []any{&moved}, `SELECT min(CASE WHEN queued_at > held_until THEN queued_at ELSE held_until END)
			FROM notify_deliveries WHERE id IN (`+movedIDs+`) AND held_until <= $1 AND `+inShards("channel_id", shards), db.Micros(tx.Now()))
	}
	if err != nil {
		return time.Time{}, err
	}
	if moved.Valid && (!since.Valid || moved.Int64 < since.Int64) {
		since = moved
	}
	return db.Time(since.Int64), nil
}

func (s *Store) countChannels(ctx context.Context, tx *db.Tx, shards []int, to map[string]int) error {
	return tx.EachRow(ctx, "counting channels", func(row db.Row) error {
		var c notify.Channel
		err := row.Scan(&c.State, &c.GateStep, &c.GateReason, db.At(&c.GateUntil), &c.Refused, db.At(&c.FailingSince), &c.Idle)
		to[c.Status(tx.Now()).State]++
		return err
	}, `SELECT c.state, c.gate_step, c.gate_reason, c.gate_until, c.refused, c.failing_since, `+channelIdle+` FROM notify_channels c
		WHERE length(c.url) > 0 AND `+inShards("c.id", shards))
}

// Outgoing counts the messages that wait, the channels that they are for, and the
// reports whose time has come.
func Outgoing(ctx context.Context, tx *db.Tx) (messages, channels, reports int, err error) {
	err = tx.Get(ctx, "counting messages that wait", []any{&messages, &channels, &reports},
		`SELECT COUNT(*), COUNT(DISTINCT channel_id),
			(SELECT COUNT(*) FROM notify_reports WHERE ask_at > 0 AND ask_at <= $1 AND enabled = 1)
		FROM notify_deliveries WHERE finished_at = 0`, db.Micros(tx.Now()))
	return messages, channels, reports, err
}
