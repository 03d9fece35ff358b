package store

import (
	"context"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// release ends the quiet hours of what a rule holds back on a channel: they were
// changed, and what waits for the old ones would come at an odd time.
func (s *Store) release(ctx context.Context, tx *db.Tx, rule, channel int64) error {
	waiting, err := waitingFor(ctx, tx, rule, channel)
	if err != nil {
		return err
	}
	var held [][]any
	for _, d := range waiting {
		held = append(held, []any{db.Micros(tx.Now()), d.ID})
	}
	if err := tx.Each(ctx, "ending quiet hours",
		`UPDATE notify_deliveries SET held_until = $1 WHERE id = $2 AND held_until > $1`, held, nil); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.moved(channel) })
	return nil
}

// holdDecided has a delivery wait for the quiet hours of the rules that are now
// known to take it; first says that none was known before. It is held no longer
// than it was: a rule that has taken it since may have no quiet hours.
func (s *Store) holdDecided(ctx context.Context, tx *db.Tx, d *decidedDelivery, of *notify.Delivery, first bool) error {
	rules, err := s.load(ctx, tx) // another node may have changed the hours
	if err != nil {
		return err
	}
	if !rules.Quiet() || of.Event == nil {
		return nil
	}
	open, err := readIDs(ctx, tx, `SELECT rule_id FROM notify_decisions WHERE decision = 'undecided' AND delivery_id = $1`, d.ID)
	if err != nil {
		return err
	}
	takers := slices.DeleteFunc(slices.Clone(d.Rules), func(id int64) bool { return slices.Contains(open, id) })
	until := db.Micros(rules.HeldUntil(takers, of.Event, of.CreatedAt))
	return tx.Do(ctx, "holding a decided delivery",
		`UPDATE notify_deliveries SET held_until = $1 WHERE id = $2 AND (held_until > $1 OR $3 = 1)`,
		until, d.ID, db.Bit(first))
}
