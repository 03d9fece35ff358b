package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

const (
	// maxDeliveriesCounted and maxEventsCounted are how many of the newest rows are looked
	// at to count those of a filter that has no index, and maxPlacesCounted how many rules
	// or reports: some thousandths of a second each. Of deliveries whose events have to be
	// looked at too, these are as many as of events.
	maxDeliveriesCounted = 100_000
	maxEventsCounted     = 20_000
	maxPlacesCounted     = 20_000
)

// CountDeliveries counts what f lets through, to most. It is not known where f has no
// index and there are too many others to look at.
func (s *Store) CountDeliveries(ctx context.Context, f notify.DeliveryFilter, most int) (n int, known bool, err error) {
	f.Before = 0
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		lowest, first, end, err := deliveryRange(ctx, tx, &f)
		if err != nil {
			return err
		}
		from := first
		if f.ChannelID != 0 || f.State == notify.Delivered || f.State != "" && f.RuleID+f.ReportID != 0 {
			from = max(first, end-maxDeliveriesCounted)
		}
		if f.AtPlace() {
			from = max(from, end-maxEventsCounted)
		}
		err = eachCondition(&f, func(condition string, arg int64) error {
			where, args, err := deliveryConditions(ctx, tx, &f, condition, arg)
			if err != nil {
				return err
			}
			if from > lowest {
				args = append(args, from)
				where += fmt.Sprintf(" AND d.id >= $%d", len(args))
			}
			if f.AtPlace() {
				where, args = atPlace(&f, where, args)
			}
			more, err := db.CountTo(ctx, tx, most, `SELECT 1 FROM notify_deliveries d WHERE `+where, args...)
			n += more
			return err
		})
		n = min(n, most)
		known = n == most || from == first
		return err
	})
	return n, known, err
}

// deliveryRange returns the lowest id of deliveries, and the range of those since the
// filter's time, which it takes off the filter.
func deliveryRange(ctx context.Context, tx *db.Tx, f *notify.DeliveryFilter) (lowest, first, end int64, err error) {
	if err := tx.Get(ctx, "reading the bounds of deliveries", []any{&lowest, &end}, idBounds("notify_deliveries")); err != nil {
		return 0, 0, 0, err
	}
	first = lowest
	if !f.Since.IsZero() {
		first, err = firstSince(ctx, tx, "notify_deliveries", "created_at", f.Since)
		f.Since = time.Time{}
	}
	return lowest, first, end, err
}

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

// CountEvents is CountDeliveries for events.
func (s *Store) CountEvents(ctx context.Context, f notify.EventFilter, most int) (n int, known bool, err error) {
	f.Before = 0
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		first, end, err := eventRange(ctx, tx, &f)
		if err != nil {
			return err
		}
		from := first
		if f.Fate != notify.EventNotUnderstood {
			from = max(first, end-maxEventsCounted)
		}
		where, args := eventConditions(&f, from, end)
		if f.Types != 0 {
			n, err = countTyped(ctx, tx, f.Types, most, where, args)
		} else {
			n, err = db.CountTo(ctx, tx, most, `SELECT 1 FROM notify_events WHERE `+where, args...)
		}
		known = n == most || from == first
		return err
	})
	return n, known, err
}

// typesWithin is how many bytes of a stored event have its types, with which it begins.
const typesWithin = 1 << 10

// countTyped counts, to most, the events with one of the types.
func countTyped(ctx context.Context, tx *db.Tx, types notify.TypeSet, most int, where string, args []any) (n int, err error) {
	err = tx.EachRow(ctx, "counting events of a type", func(row db.Row) error {
		var event sql.RawBytes
		err := row.Scan(&event)
		of, _, _ := bytes.Cut(event, []byte("]"))
		if n < most && mayHaveType(of, types) {
			n++
		}
		return err
	}, fmt.Sprintf(`SELECT substr(event, 1, %d) FROM notify_events WHERE `, typesWithin)+where, args...)
	return n, err
}

// CountRules counts the rules of all pages, to most, by the places that they are in: who
// sees a rule is decided by its place.
func (s *Store) CountRules(ctx context.Context, p notify.RulePage, most int) (n int, known bool, err error) {
	where, args := ruleConditions(&p)
	return s.countPlaces(ctx, most, `notify_rules r WHERE `+where, args, func(connection, project, repository string) bool {
		return p.Visible(&notify.Rule{Connection: connection, ProjectKey: project, RepositoryKey: repository})
	})
}

// CountReports is CountRules for reports.
func (s *Store) CountReports(ctx context.Context, p notify.ReportPage, most int) (n int, known bool, err error) {
	return s.countPlaces(ctx, most, `notify_reports r WHERE `+reportConditions, reportArgs(&p),
		func(connection, project, repository string) bool {
			return p.Visible(&notify.Report{Connection: connection, ProjectKey: project, RepositoryKey: repository})
		})
}

func (s *Store) countPlaces(
	ctx context.Context, most int, from string, args []any, visible func(connection, project, repository string) bool,
) (n int, known bool, err error) {
	all := 0
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "counting by places", func(row db.Row) error {
			var connection, project, repository string
			var its int
			err := row.Scan(&connection, &project, &repository, &its)
			if all += its; err == nil && visible(connection, project, repository) {
				n += its
			}
			return err
		}, fmt.Sprintf(`SELECT connection, project_key, repository_key, count(*) FROM
			(SELECT r.connection, r.project_key, r.repository_key FROM %s LIMIT %d) counted GROUP BY connection, project_key, repository_key`,
			from, maxPlacesCounted), args...)
	})
	return min(n, most), n >= most || all < maxPlacesCounted, err
}

// CountVisibleChannels counts the channels of all pages that are visible. It is not known
// where there are more than are looked through in one reading.
func (s *Store) CountVisibleChannels(ctx context.Context, visible func(*notify.ChannelInfo) bool) (n int, known bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		ids, err := readIDs(ctx, tx, `SELECT c.id FROM notify_channels c WHERE `+channelThere+` LIMIT $1`, maxRead+1)
		if known = len(ids) <= maxRead; err != nil || !known || len(ids) == 0 {
			return err
		}
		ids, err = usedByVisible(ctx, tx, ids, visible)
		n = len(ids)
		return err
	})
	return n, known, err
}

// CountChannels counts the channels that something uses, or that stay, to most.
func (s *Store) CountChannels(ctx context.Context, most int) (int, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (int, error) {
		return db.CountTo(ctx, tx, most, `SELECT 1 FROM notify_channels c WHERE `+channelThere)
	})
}
