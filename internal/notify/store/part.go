package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// part has rules leave a delivery for deliveries of their own, which wait behind
// what waits already where they send.
func (s *Store) part(ctx context.Context, tx *db.Tx, d *decidedDelivery, leave []notify.Parting) error {
	if len(leave) == 0 {
		return nil
	}
	ids, err := reserveIDs(ctx, tx, "notify_deliveries", len(leave))
	if err != nil {
		return err
	}
	parted := make([]*notify.Delivery, len(leave))
	for i, p := range leave {
		parted[i] = &notify.Delivery{
			ID: ids[i], EventID: d.EventID, ChannelID: p.To.ChannelID, Format: p.To.Format, Rules: p.Rules,
			State: notify.Waiting, Note: d.Note, HeldUntil: d.HeldUntil,
		}
		d.Rules = slices.DeleteFunc(d.Rules, func(id int64) bool { return slices.Contains(p.Rules, id) })
	}
	if err := s.updateDecided(ctx, tx, d, true); err != nil {
		return err
	}
	if err := insertDeliveries(ctx, tx, parted); err != nil {
		return err
	}
	if err := tx.Do(ctx, "keeping the event of parted deliveries",
		`UPDATE notify_events SET needed = needed + $1 WHERE id = $2`, len(parted), d.EventID); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.counts.match(len(parted))
		for _, p := range parted {
			s.moved(p.ChannelID)
		}
	})
	return nil
}

// partWaiting has those rules leave waiting deliveries that took them and do not send
// to where they are or go now. What is undecided parts when it is decided.
func (s *Store) partWaiting(ctx context.Context, tx *db.Tx, waiting []*notify.Delivery, rules map[int64]notify.RuleTarget) error {
	for _, of := range waiting {
		if len(notify.Part(of.Took(), rules, notify.Destination{})) < 2 {
			continue // they are all in one place
		}
		d, err := lockDelivery(ctx, tx, of)
		if err != nil {
			return err
		}
		if d == nil || !d.FinishedAt.IsZero() {
			continue
		}
		if err := s.part(ctx, tx, d, notify.Part(of.Took(), rules, d.Destination())); err != nil {
			return err
		}
	}
	return nil
}
