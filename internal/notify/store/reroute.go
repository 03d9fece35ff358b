package store

import (
	"context"
	"fmt"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// waitingDelivery is a delivery that waits, and the rules that it is for.
type waitingDelivery struct {
	id    int64
	rules []int64
}

// reroute settles what waits on a channel for a rule that was changed or
// deleted. A message stays there while an enabled rule of its own sends there;
// else it follows one that sends elsewhere; where no enabled one is left it is
// cancelled at once, since its turn may be hours away on a channel in trouble.
func (s *Store) reroute(ctx context.Context, tx *db.Tx, rule, from int64) error {
	tx.AfterCommit(func() { s.moved(from) })
	waiting, err := waitingFor(ctx, tx, rule, from)
	if err != nil || len(waiting) == 0 {
		return err
	}
	rules, err := readTargets(ctx, tx, waiting)
	if err != nil {
		return err
	}
	var moves [][]any
	var ends []int64
	for i := range waiting {
		d := &waiting[i]
		switch to := notify.Reroute(d.rules, rules, from); to {
		case from:
		case 0:
			ends = append(ends, d.id)
		default:
			moves = append(moves, []any{to, d.id})
		}
	}
	if err := s.moveDeliveries(ctx, tx, moves); err != nil {
		return err
	}
	_, err = s.end(ctx, tx, ends, notify.Cancelled, notify.CancelledReason([]int64{rule}))
	return err
}

// moveDeliveries puts deliveries on other channels: pairs of a channel and a
// delivery. Server errors count against a message on the channel that gave them.
func (s *Store) moveDeliveries(ctx context.Context, tx *db.Tx, moves [][]any) error {
	if err := tx.Each(ctx, `UPDATE notify_deliveries SET channel_id = $1, errors_5xx = 0, due_at = 0, beside = 0, batch = 0 WHERE id = $2 AND finished_at = 0`, moves, nil); err != nil {
		return fmt.Errorf("moving deliveries: %w", err)
	}
	told := make(map[int64]bool)
	for _, m := range moves {
		if to := m[0].(int64); !told[to] {
			told[to] = true
			tx.AfterCommit(func() { s.moved(to) })
		}
	}
	return nil
}

// readTargets says where the rules and reports of the deliveries send.
func readTargets(ctx context.Context, tx *db.Tx, waiting []waitingDelivery) (map[int64]notify.RuleTarget, error) {
	var ids []int64
	for _, d := range waiting {
		ids = append(ids, d.rules...)
	}
	slices.Sort(ids)
	rows, err := tx.Query(ctx, `SELECT id, channel_id, enabled FROM notify_rules WHERE id IN (`+list(slices.Compact(ids))+`)`)
	if err != nil {
		return nil, fmt.Errorf("reading where rules send: %w", err)
	}
	defer rows.Close()
	found := make(map[int64]notify.RuleTarget)
	for rows.Next() {
		var id int64
		var to notify.RuleTarget
		if err := rows.Scan(&id, &to.ChannelID, &to.Enabled); err != nil {
			return nil, fmt.Errorf("reading where rules send: %w", err)
		}
		found[id] = to
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading where rules send: %w", err)
	}
	rows.Close()
	return found, addReportTargets(ctx, tx, ids, found)
}

// waitingFor are the deliveries on a channel that wait for a rule, in their
// order.
func waitingFor(ctx context.Context, tx *db.Tx, rule, channel int64) ([]waitingDelivery, error) {
	rows, err := tx.Query(ctx, `SELECT id, rules FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0 ORDER BY id`, channel)
	if err != nil {
		return nil, fmt.Errorf("reading waiting deliveries: %w", err)
	}
	defer rows.Close()
	var found []waitingDelivery
	for rows.Next() {
		var d waitingDelivery
		var encoded string
		if err := rows.Scan(&d.id, &encoded); err != nil {
			return nil, fmt.Errorf("reading waiting deliveries: %w", err)
		}
		if d.rules = decodeIDs(encoded); slices.Contains(d.rules, rule) {
			found = append(found, d)
		}
	}
	return found, rows.Err()
}
