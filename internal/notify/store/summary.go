package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// maxTroubled is how many channels the overview names.
const maxTroubled = 10

// Summary counts what happened since a time, and what is wrong now. What was
// delivered is in the samples, and in the tally of this node; other nodes are up
// to a minute behind. The deliveries themselves would have to be gone through,
// what waits among them.
func (s *Store) Summary(ctx context.Context, since time.Time) (notify.Summary, error) {
	var sum notify.Summary
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		first, err := firstSince(ctx, tx, "notify_deliveries", "created_at", since)
		if err != nil {
			return err
		}
		if err := tx.Get(ctx, "counting deliveries", []any{&sum.Delivered, &sum.Failed, &sum.Waiting}, `SELECT
				(SELECT CAST(coalesce(sum(delivered), 0) AS BIGINT) FROM notify_samples WHERE at >= $1),
				(SELECT count(*) FROM (SELECT 1 FROM notify_deliveries WHERE id >= $2 AND state = 'failed' LIMIT $3) f),
				(SELECT count(*) FROM (SELECT 1 FROM notify_deliveries WHERE finished_at = 0 LIMIT $3) w)`,
			db.Micros(since), first, notify.MaxCounted); err != nil {
			return err
		}
		sum.Delivered += int(s.tally.delivered.Load())
		if err := tx.Get(ctx, "counting events", []any{&sum.NotUnderstood, db.At(&sum.NotUnderstoodAt)}, `SELECT count(*),
			coalesce(min(received_at), 0) FROM notify_events WHERE outcome = 'not_understood' AND received_at >= $1`, db.Micros(since)); err != nil {
			return err
		}
		if err := tx.Get(ctx, "looking for rules and events", []any{&sum.AnyRule, &sum.AnyEvent},
			`SELECT EXISTS (SELECT 1 FROM notify_rules), EXISTS (SELECT 1 FROM notify_events WHERE outcome <> 'report')`); err != nil {
			return err
		}
		if sum.Retrying, err = readRetrying(ctx, tx); err != nil {
			return err
		}
		sum.Troubled, sum.InTrouble, sum.OthersSince, err = readTroubled(ctx, tx, maxTroubled)
		return err
	})
	return sum, err
}

// firstSince finds the first id of a table whose time is not before since, by
// bisection: ids are given in the order of time, and the time has no index.
func firstSince(ctx context.Context, tx *db.Tx, table, column string, since time.Time) (int64, error) {
	var low, high int64
	if err := tx.Get(ctx, "reading the bounds of "+table, []any{&low, &high}, idBounds(table)); err != nil {
		return 0, err
	}
	for low < high {
		middle := low + (high-low)/2
		var id, at int64
		if err := tx.Get(ctx, "bisecting "+table, []any{&id, &at},
			`SELECT id, `+column+` FROM `+table+` WHERE id >= $1 ORDER BY id LIMIT 1`, middle); err != nil {
			return 0, err
		}
		if at >= db.Micros(since) {
			high = middle
		} else {
			low = id + 1
		}
	}
	return low, nil
}

// idBounds asks for the first id of a table and the one after its last. SQLite goes
// through the whole table for both in one SELECT, and to its ends for one alone.
func idBounds(table string) string {
	return `SELECT coalesce((SELECT min(id) FROM ` + table + `), 0), coalesce((SELECT max(id) FROM ` + table + `) + 1, 0)`
}
