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
	plain, special := newDeliveryRows(len(deliveries)), new(deliveryRows)
	var rules, undecided [][]any
	for _, d := range deliveries {
		if d.EventID == 0 {
			return fmt.Errorf("delivery %d: its event was not stored", d.ID)
		}
		d.CreatedAt = tx.Now()
		if d.State == notify.Waiting && d.Note == "" {
			plain.add(d)
		} else {
			special.add(d)
			special.states, special.notes = append(special.states, string(d.State)), append(special.notes, clean(d.Note))
		}
		for _, rule := range d.Rules[1:] {
			rules = append(rules, []any{rule, d.ID})
		}
		for _, rule := range d.Undecided {
			undecided = append(undecided, []any{d.EventID, rule, d.ID})
		}
	}
	if err := plain.insert(ctx, tx); err != nil {
		return err
	}
	if err := special.insert(ctx, tx); err != nil {
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

// deliveryRows are rows of notify_deliveries, column by column.
type deliveryRows struct {
	ids, events, channels, rules, created, held []int64
	formats, lists                              []string
	// states and notes are of those that do not just wait, as nearly all do.
	states, notes []string
}

func newDeliveryRows(n int) *deliveryRows {
	numbers := func() []int64 { return make([]int64, 0, n) }
	return &deliveryRows{
		ids: numbers(), events: numbers(), channels: numbers(), rules: numbers(), created: numbers(), held: numbers(),
		formats: make([]string, 0, n), lists: make([]string, 0, n),
	}
}

func (c *deliveryRows) add(d *notify.Delivery) {
	c.ids, c.events, c.channels = append(c.ids, d.ID), append(c.events, d.EventID), append(c.channels, d.ChannelID)
	c.formats, c.created = append(c.formats, string(d.Format)), append(c.created, db.Micros(d.CreatedAt))
	c.held = append(c.held, db.Micros(d.HeldUntil))
	c.rules, c.lists = append(c.rules, d.Rules[0]), append(c.lists, encodeIDs(d.Rules))
}

func (c *deliveryRows) insert(ctx context.Context, tx *db.Tx) error {
	if len(c.ids) == 0 {
		return nil
	}
	in := db.Insert{
		Into: `notify_deliveries (id, event_id, channel_id, format, rule_id, rules, created_at, held_until, state, note, reason, attempts,
			errors_5xx, queued_at, due_at, beside, batch, finished_at, took, status, answer)`,
		Columns:   []any{c.ids, c.events, c.channels, c.formats, c.rules, c.lists, c.created, c.held},
		Constants: `'', 0, 0, 0, 0, 0, 0, 0, 0, 0, ''`,
	}
	if c.states == nil {
		in.Constants = `'waiting', '', ` + in.Constants
	} else {
		in.Columns = append(in.Columns, c.states, c.notes)
	}
	return tx.Insert(ctx, "inserting deliveries", in)
}
