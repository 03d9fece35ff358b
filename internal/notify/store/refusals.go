package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// refusalHour is how long refused webhooks are counted in one row.
const refusalHour = time.Hour

// AddRefused adds to the counts of refused webhooks, and forgets what is past its
// time. So the rows are at most as many as keys times the hours that are kept.
func (s *Store) AddRefused(ctx context.Context, list []notify.RefusedWebhooks) error {
	rows := make([][]any, len(list))
	for i := range list {
		r := &list[i]
		rows[i] = []any{
			clean(r.Connection), clean(r.Hook), string(r.Reason), db.Micros(r.LastAt.Truncate(refusalHour)), r.Count,
			db.Micros(r.FirstAt), db.Micros(r.LastAt), clean(r.LastBy), clean(r.Message),
		}
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Each(ctx, "counting refused webhooks",
			`INSERT INTO notify_refusals (connection, hook, reason, hour, times, first_at, last_at, last_by, message)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (connection, hook, reason, hour) DO UPDATE SET
				times = notify_refusals.times + excluded.times, last_at = excluded.last_at,
				last_by = excluded.last_by, message = excluded.message`, rows, nil); err != nil {
			return err
		}
		return tx.Do(ctx, "deleting old refused webhooks", `DELETE FROM notify_refusals WHERE hour < $1`, db.Micros(oldestRefusal(tx.Now())))
	})
}

// oldestRefusal is the beginning of the first hour that is told of.
func oldestRefusal(now time.Time) time.Time {
	return now.Add(-notify.RefusalsKept).Truncate(refusalHour)
}

// Refused counts the webhooks that were refused in the last 24 h, by the hour, in
// the order of connections, hooks and reasons.
func (s *Store) Refused(ctx context.Context) (list []notify.RefusedWebhooks, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if list, err = readRefused(ctx, tx); err != nil || len(list) == 0 {
			return err
		}
		came, err := readRecentHooks(ctx, tx)
		for i := range list {
			list[i].Alone = !came[[2]string{list[i].Connection, list[i].Hook}]
		}
		return err
	})
	return list, err
}

func readRefused(ctx context.Context, tx *db.Tx) ([]notify.RefusedWebhooks, error) {
	recent := db.Micros(tx.Now().Truncate(refusalHour).Add(-refusalHour))
	var list []notify.RefusedWebhooks
	err := tx.EachRow(ctx, "reading refused webhooks", func(row db.Row) error {
		var r notify.RefusedWebhooks
		var hour int64
		if err := row.Scan(&r.Connection, &r.Hook, &r.Reason, &hour, &r.Count,
			db.At(&r.FirstAt), db.At(&r.LastAt), &r.LastBy, &r.Message); err != nil {
			return err
		}
		if hour >= recent {
			r.Recent = r.Count
		}
		if n := len(list); n > 0 && list[n-1].RefusalKey == r.RefusalKey { // a later hour of the same
			r.Count, r.Recent, r.FirstAt = r.Count+list[n-1].Count, r.Recent+list[n-1].Recent, list[n-1].FirstAt
			list = list[:n-1]
		}
		list = append(list, r)
		return nil
	}, `SELECT connection, hook, reason, hour, times, first_at, last_at, last_by, message FROM notify_refusals
		WHERE hour >= $1 ORDER BY connection, hook, reason, hour`, db.Micros(oldestRefusal(tx.Now())))
	return list, err
}

// newestEvents is how many events are looked through for the hooks by which any
// came in: some milliseconds' worth.
const newestEvents = 10_000

// readRecentHooks returns the hooks, by connection and name, by which an event came
// in within the last 24 h.
func readRecentHooks(ctx context.Context, tx *db.Tx) (map[[2]string]bool, error) {
	first, err := firstSince(ctx, tx, "notify_events", "received_at", tx.Now().Add(-notify.RefusalsKept))
	if err != nil {
		return nil, err
	}
	came := make(map[[2]string]bool)
	return came, tx.EachRow(ctx, "reading the hooks of events", func(row db.Row) error {
		var key [2]string
		err := row.Scan(&key[0], &key[1])
		came[key] = true
		return err
	}, `SELECT DISTINCT connection, hook FROM
		(SELECT connection, hook FROM notify_events WHERE id >= $1 ORDER BY id DESC LIMIT $2) AS newest`, first, newestEvents)
}
