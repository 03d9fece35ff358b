package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// decidedDelivery is a delivery about which something was decided, as it is.
type decidedDelivery struct {
	notify.Delivery
	before []int64 // its rules
}

// lockDelivery reads a delivery that stays as it is until the end of tx; nil
// where it is not there any more.
func lockDelivery(ctx context.Context, tx *db.Tx, of *notify.Delivery) (*decidedDelivery, error) {
	d := &decidedDelivery{Delivery: notify.Delivery{ID: of.ID, EventID: of.EventID}}
	var rules string
	found, err := tx.Find(ctx, "reading an undecided delivery",
		[]any{&d.ChannelID, &d.Format, &rules, &d.State, &d.Note, db.At(&d.FinishedAt), db.At(&d.HeldUntil), &d.ToChannel},
		`UPDATE notify_deliveries SET note = note WHERE id = $1 AND event_id = $2
		RETURNING channel_id, format, rules, state, note, finished_at, held_until, to_channel`, of.ID, of.EventID)
	if err != nil || !found {
		return nil, err
	}
	d.Rules, d.before = decodeIDs(rules), decodeIDs(rules)
	return d, nil
}

// updateDecided writes the delivery; narrowed says that rules refused it.
func (s *Store) updateDecided(ctx context.Context, tx *db.Tx, d *decidedDelivery, narrowed bool) error {
	if err := tx.Do(ctx, "updating a decided delivery",
		`UPDATE notify_deliveries SET rule_id = $1, rules = $2, state = $3, note = $4 WHERE id = $5`,
		d.Rules[0], encodeIDs(d.Rules), string(d.State), clean(d.Note), d.ID); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.moved(d.ChannelID) })
	if !narrowed {
		return nil
	}
	if err := deleteRuleLinks(ctx, tx, d); err != nil {
		return err
	}
	var links [][]any
	for _, rule := range d.Rules[1:] {
		links = append(links, []any{rule, d.ID})
	}
	return tx.Each(ctx, "inserting a delivery's rules", `INSERT INTO notify_delivery_rules (rule_id, delivery_id) VALUES ($1, $2)`, links, nil)
}

func deleteRuleLinks(ctx context.Context, tx *db.Tx, d *decidedDelivery) error {
	var links [][]any
	for _, rule := range d.before[1:] {
		links = append(links, []any{rule, d.ID})
	}
	return tx.Each(ctx, "deleting a delivery's rules", `DELETE FROM notify_delivery_rules WHERE rule_id = $1 AND delivery_id = $2`, links, nil)
}

// followRules settles a delivery that was kept on its channel until the decisions
// were made: its rules may have moved or ended meanwhile. Where it has been sent,
// those that take it only now may send elsewhere.
func (s *Store) followRules(ctx context.Context, tx *db.Tx, d *decidedDelivery, fresh []notify.Decision) error {
	if d.ToChannel {
		return nil
	}
	of := []*notify.Delivery{&d.Delivery}
	targets, err := readTargets(ctx, tx, of)
	if err != nil {
		return err
	}
	if !d.FinishedAt.IsZero() {
		var late []int64
		for _, f := range fresh {
			if f.Taken {
				late = append(late, f.RuleID)
			}
		}
		return s.part(ctx, tx, d, notify.Part(late, targets, d.Destination()))
	}
	switch to := d.Reroute(targets); to {
	case d.Destination():
	case notify.Destination{}:
		_, err = s.end(ctx, tx, []int64{d.ID}, notify.Cancelled, notify.CancelledReason(d.Rules))
	default:
		err = s.moveDeliveries(ctx, tx, []move{{d.ID, to}})
	}
	if err != nil {
		return err
	}
	return s.partWaiting(ctx, tx, of, targets)
}

// removeDelivery removes a delivery that no rule takes: it was never one.
func (s *Store) removeDelivery(ctx context.Context, tx *db.Tx, d *decidedDelivery) error {
	if err := deleteRuleLinks(ctx, tx, d); err != nil {
		return err
	}
	if err := tx.Do(ctx, "removing a delivery that no rule takes", `DELETE FROM notify_deliveries WHERE id = $1`, d.ID); err != nil {
		return err
	}
	if err := tx.Do(ctx, "releasing its event", `UPDATE notify_events SET needed = needed - 1 WHERE id = $1`, d.EventID); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.moved(d.ChannelID) })
	return nil
}
