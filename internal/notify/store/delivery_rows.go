package store

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// numberDeliveries sets the ids of the deliveries of webhooks, which their
// events name.
func numberDeliveries(ctx context.Context, tx *db.Tx, items []*notify.Receipt) error {
	var deliveries []*notify.Delivery
	for _, r := range items {
		if r.Refusal == nil {
			deliveries = append(deliveries, r.Deliveries...)
		}
	}
	if len(deliveries) == 0 {
		return nil
	}
	ids, err := reserveIDs(ctx, tx, "notify_deliveries", len(deliveries))
	for i, id := range ids {
		deliveries[i].ID = id
	}
	return err
}

// insertDeliveries inserts new deliveries that have their ids, in order. One whose
// event was not stored is an error: it could never be sent.
func insertDeliveries(ctx context.Context, tx *db.Tx, deliveries []*notify.Delivery) error {
	var rules, undecided [][]any
	for _, d := range deliveries {
		if d.EventID == 0 {
			return fmt.Errorf("delivery %d: its event was not stored", d.ID)
		}
		d.CreatedAt = tx.Now()
		for _, rule := range d.Rules[1:] {
			rules = append(rules, []any{rule, d.ID})
		}
		for _, rule := range d.Undecided {
			undecided = append(undecided, []any{d.EventID, rule, d.ID})
		}
	}
	if err := insertDelivery.Rows(ctx, tx, "inserting deliveries", deliveries); err != nil {
		return err
	}
	if err := tx.Each(ctx, "inserting deliveries' rules",
		`INSERT INTO notify_delivery_rules (rule_id, delivery_id) VALUES ($1, $2)`, rules, nil); err != nil {
		return err
	}
	return tx.Each(ctx, "inserting what is undecided",
		`INSERT INTO notify_decisions (event_id, rule_id, delivery_id, decision, member, note, decided_at)
		VALUES ($1, $2, $3, 'undecided', '', '', 0)`, undecided, nil)
}

var insertDelivery = db.Insert[*notify.Delivery]{
	Into: `notify_deliveries (id, event_id, channel_id, format, rule_id, rules, created_at, held_until, state, note, reason, attempts,
		errors_5xx, queued_at, due_at, beside, batch, finished_at, took, status, answer)`,
	Columns: []db.Column[*notify.Delivery]{
		db.Number(func(d *notify.Delivery) int64 { return d.ID }),
		db.Number(func(d *notify.Delivery) int64 { return d.EventID }),
		db.Number(func(d *notify.Delivery) int64 { return d.ChannelID }),
		db.Text(func(d *notify.Delivery) string { return string(d.Format) }),
		db.Number(func(d *notify.Delivery) int64 { return d.Rules[0] }),
		db.Text(func(d *notify.Delivery) string { return encodeIDs(d.Rules) }),
		db.Number(func(d *notify.Delivery) int64 { return db.Micros(d.CreatedAt) }),
		db.Number(func(d *notify.Delivery) int64 { return db.Micros(d.HeldUntil) }),
		db.Text(func(d *notify.Delivery) string { return string(d.State) }),
		db.Text(func(d *notify.Delivery) string { return clean(d.Note) }),
	},
	Constants: `'', 0, 0, 0, 0, 0, 0, 0, 0, 0, ''`,
}
