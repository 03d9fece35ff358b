package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// CountVisibleDeliveries is CountDeliveries of those that are visible, for a caller who
// sees none but of the filter's places. What decides it is the same of all deliveries
// with the same place, channel and rules, so that visible is called once for each of these.
func (s *Store) CountVisibleDeliveries(ctx context.Context, f notify.DeliveryFilter, most int, visible func(*notify.DeliveryInfo) bool) (
	n int, known bool, err error,
) {
	f.Before = 0
	var groups []*notify.Delivery
	var sizes []int
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, first, end, err := deliveryRange(ctx, tx, &f)
		if err != nil {
			return err
		}
		from := max(first, end-maxEventsCounted)
		known = from == first
		return eachCondition(&f, func(condition string, arg int64) error {
			where, args, err := deliveryConditions(ctx, tx, &f, condition, arg)
			if err != nil {
				return err
			}
			more, its, err := groupDeliveries(ctx, tx, &f, where, args, from)
			groups, sizes = append(groups, more...), append(sizes, its...)
			return err
		})
	})
	if err != nil {
		return 0, false, err
	}
	infos, err := s.Describe(ctx, groups)
	for i := range infos {
		if visible(&infos[i]) {
			n += sizes[i]
		}
	}
	n = min(n, most)
	return n, known || n == most, err
}

// groupDeliveries returns a delivery, without its id, of each channel, list of rules and
// place of an event at the filter's places, and how many there are, from an id on.
func groupDeliveries(ctx context.Context, tx *db.Tx, f *notify.DeliveryFilter, where string, args []any, from int64) (
	groups []*notify.Delivery, sizes []int, err error,
) {
	args = append(args, from)
	where += fmt.Sprintf(" AND d.id >= $%d", len(args))
	where, args = atPlace(f, where, args)
	err = tx.EachRow(ctx, "counting deliveries by place", func(row db.Row) error {
		d, e := new(notify.Delivery), new(notify.Event)
		var rules string
		var n int
		err := row.Scan(&d.ChannelID, &rules, &e.Connection, &e.Project.Key, &e.Repository.Key, &n)
		d.Rules, d.Event = decodeIDs(rules), e
		groups, sizes = append(groups, d), append(sizes, n)
		return err
	}, `SELECT d.channel_id, d.rules, e.connection, e.project_key, e.repository_key, count(*)
		FROM notify_deliveries d JOIN notify_events e ON e.id = d.event_id
		WHERE `+where+`
		GROUP BY d.channel_id, d.rules, e.connection, e.project_key, e.repository_key`, args...)
	return groups, sizes, err
}
