package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// DeliveriesVersion returns a text that is another one when what ListDeliveries
// gives is: it reads what can change of each, and no event.
func (s *Store) DeliveriesVersion(ctx context.Context, f notify.DeliveryFilter) (string, error) {
	version := notify.NewListVersion(s.Rules().Generation)
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		return eachCondition(&f, func(condition string, arg int64) error {
			where, args, err := deliveryConditions(ctx, tx, &f, condition, arg)
			if err != nil {
				return err
			}
			args = append(args, f.Limit)
			return addRows(ctx, tx, version, 8, `SELECT d.id, d.state, d.reason, d.rules, d.attempts, d.due_at, d.held_until, d.finished_at
				FROM notify_deliveries d`+fmt.Sprintf(newestDeliveries, where, len(args)), args...)
		})
	})
	return version.Text(), err
}

// EventsVersion returns a text that is another one when what ListEvents gives is,
// but for the types of events, which it does not look at.
func (s *Store) EventsVersion(ctx context.Context, f notify.EventFilter) (string, error) {
	version := notify.NewListVersion(s.Rules().Generation)
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		first, end, err := eventRange(ctx, tx, &f)
		if err != nil || first >= end {
			return err
		}
		if f.Fate != notify.EventNotUnderstood {
			first = max(first, end-maxEventsRead)
		}
		where, args := eventConditions(&f, first, end)
		return addRows(ctx, tx, version, 5, fmt.Sprintf(`SELECT id, outcome, reason, rules, needed FROM notify_events WHERE %s DESC LIMIT %d`,
			where, f.Limit), args...)
	})
	return version.Text(), err
}

// addRows adds the rows of a query, which have so many columns.
func addRows(ctx context.Context, tx *db.Tx, version *notify.ListVersion, columns int, query string, args ...any) error {
	values, into := make([]any, columns), make([]any, columns)
	for i := range values {
		into[i] = &values[i]
	}
	return tx.EachRow(ctx, "reading what changed", func(row db.Row) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		version.Add(values...)
		return nil
	}, query, args...)
}
