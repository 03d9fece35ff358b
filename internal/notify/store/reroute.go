package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

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
	targets, left, err := s.moveToTargets(ctx, tx, waiting)
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
	waiting, err := waitingOn(ctx, tx, channel, func(*notify.Delivery) bool { return true })
	if err != nil || len(waiting) == 0 {
		return err
	}
	targets, _, err := s.moveToTargets(ctx, tx, waiting)
	if err != nil {
		return err
	}
	return s.partWaiting(ctx, tx, waiting, targets)
}

// moveToTargets moves what waits on a channel to where its rules and reports send now. It
// returns those targets, and the deliveries that are left without one.
func (s *Store) moveToTargets(
	ctx context.Context, tx *db.Tx, waiting []*notify.Delivery,
) (targets map[int64]notify.RuleTarget, left []int64, err error) {
	if targets, err = readTargets(ctx, tx, waiting); err != nil {
		return nil, nil, err
	}
	var moves []move
	for _, d := range waiting {
		switch to := d.Reroute(targets); to {
		case d.Destination():
		case notify.Destination{}:
			left = append(left, d.ID)
		default:
			moves = append(moves, move{d.ID, to})
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

// readTargets returns where the rules and reports of the deliveries send, and sets which of
// the rules may yet refuse the event. Callers that move deliveries by it take the lock of the
// rules before any row, as saves do: a save that is being committed would not find what moves
// meanwhile.
func readTargets(ctx context.Context, tx *db.Tx, of []*notify.Delivery) (map[int64]notify.RuleTarget, error) {
	var ids []int64
	var several []*notify.Delivery // of which a rule may be undecided beside one that took it
	for _, d := range of {
		if ids = append(ids, d.Rules...); len(d.Rules) > 1 {
			several = append(several, d)
		}
	}
	if err := readUndecidedRules(ctx, tx, several); err != nil {
		return nil, err
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
func waitingFor(ctx context.Context, tx *db.Tx, rule, channel int64) ([]*notify.Delivery, error) {
	return waitingOn(ctx, tx, channel, func(d *notify.Delivery) bool { return slices.Contains(d.Rules, rule) })
}

// waitingOn returns the deliveries that wait on a channel and for which of returns true,
// in their order, with their rules and where they go.
func waitingOn(ctx context.Context, tx *db.Tx, channel int64, of func(*notify.Delivery) bool) (found []*notify.Delivery, err error) {
	err = tx.EachRow(ctx, "reading waiting deliveries", func(row db.Row) error {
		d := &notify.Delivery{ChannelID: channel}
		var encoded string
		err := row.Scan(&d.ID, &d.EventID, &d.Format, &encoded)
		if d.Rules = decodeIDs(encoded); of(d) {
			found = append(found, d)
		}
		return err
	}, `SELECT id, event_id, format, rules FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 ORDER BY id`, channel)
	return found, err
}
