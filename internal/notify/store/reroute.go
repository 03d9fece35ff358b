package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// waitingDelivery is a delivery that waits, and the rules that it is for.
type waitingDelivery struct {
	id     int64
	event  int64
	format notify.Format
	rules  []int64
	open   []int64 // those of rules that may yet refuse its event, as readOpen found
}

// took returns the rules that are known to take the event.
func (d *waitingDelivery) took() []int64 {
	return slices.DeleteFunc(slices.Clone(d.rules), func(id int64) bool { return slices.Contains(d.open, id) })
}

// destination returns where the delivery, which is at now, belongs: where a rule that took
// it sends or, only if none of these is enabled, one that may yet take it.
func (d *waitingDelivery) destination(targets map[int64]notify.RuleTarget, now notify.Destination) notify.Destination {
	if to := notify.Reroute(d.took(), targets, now); to != (notify.Destination{}) {
		return to
	}
	return notify.Reroute(d.rules, targets, now)
}

// readOpen sets open of the deliveries that are for several rules.
func readOpen(ctx context.Context, tx *db.Tx, waiting []waitingDelivery) error {
	byID := make(map[int64]*waitingDelivery)
	var ids []int64
	for i := range waiting {
		if d := &waiting[i]; len(d.rules) > 1 {
			byID[d.id], ids = d, append(ids, d.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return eachUndecided(ctx, tx, ids, func(delivery, rule int64) { byID[delivery].open = append(byID[delivery].open, rule) })
}

// reroute settles what waits on a channel for a rule that was changed or
// deleted. A message stays there while an enabled rule of its own sends there;
// else it follows one that sends in another format or elsewhere. If no enabled
// one is left, it is cancelled at once, since its turn may be hours away on a channel in
// trouble. For each other place to which an enabled rule of its own sends it becomes
// another message.
func (s *Store) reroute(ctx context.Context, tx *db.Tx, rule, from int64) error {
	tx.AfterCommit(func() { s.moved(from) })
	waiting, err := waitingFor(ctx, tx, rule, from)
	if err != nil || len(waiting) == 0 {
		return err
	}
	targets, left, err := s.moveToTargets(ctx, tx, waiting, from)
	if err != nil {
		return err
	}
	if _, err = s.end(ctx, tx, left, notify.Cancelled, notify.CancelledReason([]int64{rule})); err != nil {
		return err
	}
	return s.partWaiting(ctx, tx, waiting, targets)
}

// rerouteChannel has what waits on a channel go out in the formats that its rules and
// reports have now.
func (s *Store) rerouteChannel(ctx context.Context, tx *db.Tx, channel int64) error {
	waiting, err := waitingOn(ctx, tx, channel, func(*waitingDelivery) bool { return true })
	if err != nil || len(waiting) == 0 {
		return err
	}
	targets, _, err := s.moveToTargets(ctx, tx, waiting, channel)
	if err != nil {
		return err
	}
	return s.partWaiting(ctx, tx, waiting, targets)
}

// moveToTargets moves what waits on a channel to where its rules and reports send now. It
// returns those targets, and the deliveries that are left without one.
func (s *Store) moveToTargets(
	ctx context.Context, tx *db.Tx, waiting []waitingDelivery, from int64,
) (targets map[int64]notify.RuleTarget, left []int64, err error) {
	if err := readOpen(ctx, tx, waiting); err != nil {
		return nil, nil, err
	}
	if targets, err = readTargets(ctx, tx, waiting); err != nil {
		return nil, nil, err
	}
	var moves []move
	for i := range waiting {
		d := &waiting[i]
		at := notify.Destination{ChannelID: from, Format: d.format}
		switch to := d.destination(targets, at); to {
		case at:
		case notify.Destination{}:
			left = append(left, d.id)
		default:
			moves = append(moves, move{d.id, to})
		}
	}
	return targets, left, s.moveDeliveries(ctx, tx, moves)
}

// move takes a delivery to another channel or format.
type move struct {
	delivery int64
	to       notify.Destination
}

// moveDeliveries puts deliveries on other channels, or into another format.
// Server errors count against a message on the channel, and in the format, that
// gave them.
func (s *Store) moveDeliveries(ctx context.Context, tx *db.Tx, moves []move) error {
	rows := make([][]any, len(moves))
	var channels []int64
	for i, m := range moves {
		rows[i] = []any{m.to.ChannelID, string(m.to.Format), m.delivery}
		if !slices.Contains(channels, m.to.ChannelID) {
			channels = append(channels, m.to.ChannelID)
		}
	}
	if err := tx.Each(ctx, "moving deliveries", `UPDATE notify_deliveries
		SET channel_id = $1, format = $2, errors_5xx = 0, due_at = 0, beside = 0, batch = 0
		WHERE id = $3 AND finished_at = 0`, rows, nil); err != nil {
		return err
	}
	for _, to := range channels {
		tx.AfterCommit(func() { s.moved(to) })
	}
	return nil
}

// readTargets returns where the rules and reports of the deliveries send. Callers that
// move deliveries by it take the lock of the rules before any row, as saves do: a save
// that is being committed would not find what moves meanwhile.
func readTargets(ctx context.Context, tx *db.Tx, waiting []waitingDelivery) (map[int64]notify.RuleTarget, error) {
	var ids []int64
	for _, d := range waiting {
		ids = append(ids, d.rules...)
	}
	slices.Sort(ids)
	found := make(map[int64]notify.RuleTarget)
	err := tx.EachRow(ctx, "reading where rules send", func(row db.Row) error {
		id, to, err := scanTarget(row)
		found[id] = to
		return err
	}, `SELECT r.id, r.channel_id, r.format, c.format, c.host, r.enabled
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE r.id IN (`+list(slices.Compact(ids))+`)`)
	if err != nil {
		return nil, err
	}
	return found, addReportTargets(ctx, tx, ids, found)
}

// scanTarget reads the id of a rule or report, its channel, its own format, the
// channel's and its host, and whether it is enabled.
func scanTarget(row db.Row) (id int64, to notify.RuleTarget, err error) {
	var format notify.Format
	var host string
	err = row.Scan(&id, &to.ChannelID, &to.Format, &format, &host, &to.Enabled)
	to.Format = to.Format.Else(format).ResolveFormat(host)
	return id, to, err
}

// waitingFor returns the deliveries on a channel that wait for a rule, in their order.
func waitingFor(ctx context.Context, tx *db.Tx, rule, channel int64) ([]waitingDelivery, error) {
	return waitingOn(ctx, tx, channel, func(d *waitingDelivery) bool { return slices.Contains(d.rules, rule) })
}

// waitingOn returns the deliveries that wait on a channel and for which of returns true,
// in their order.
func waitingOn(ctx context.Context, tx *db.Tx, channel int64, of func(*waitingDelivery) bool) ([]waitingDelivery, error) {
	var found []waitingDelivery
	err := tx.EachRow(ctx, "reading waiting deliveries", func(row db.Row) error {
		var d waitingDelivery
		var encoded string
		err := row.Scan(&d.id, &d.event, &d.format, &encoded)
		if d.rules = decodeIDs(encoded); of(&d) {
			found = append(found, d)
		}
		return err
	}, `SELECT id, event_id, format, rules FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 ORDER BY id`, channel)
	return found, err
}
