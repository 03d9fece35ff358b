package notify

import (
	"context"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
)

// insertEventRows inserts the rows in order and sets the id of those that
// were new; the others keep 0.
func insertEventRows(ctx context.Context, tx *db.Tx, rows []*eventRow) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([][]any, len(rows))
	for i, e := range rows {
		e.id = 0
		r := e.receipt
		requestID, fingerprint := e.identity()
		args[i] = []any{
			r.Connection, r.Key, requestID, fingerprint, db.Micros(r.ReceivedAt), string(r.Outcome), r.Reason,
			e.project, e.repository, e.rules, orNull(e.event), orNull(e.body),
		}
	}
	err := tx.Each(ctx, `INSERT INTO notify_events (connection, event_key, request_id, fingerprint, received_at, outcome, reason,
			project_key, repository_key, rules, event, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING RETURNING id`, args,
		func(i int, row db.Row) error { return row.Scan(&rows[i].id) })
	if err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	return nil
}

// orNull is NULL for bytes that are not there.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// insertDeliveries inserts waiting deliveries in order and sets their ids.
// Ids of a later transaction are higher, which keeps messages in order.
func insertDeliveries(ctx context.Context, tx *db.Tx, deliveries []*Delivery) error {
	args := make([][]any, len(deliveries))
	for i, d := range deliveries {
		d.CreatedAt = tx.Now()
		args[i] = []any{d.EventID, d.ChannelID, string(d.Format), d.Rules[0], encodeIDs(d.Rules), db.Micros(d.CreatedAt)}
	}
	err := tx.Each(ctx, `INSERT INTO notify_deliveries (event_id, channel_id, format, rule_id, rules, state, reason, attempts,
			errors_5xx, created_at, finished_at, took, status, answer)
		VALUES ($1, $2, $3, $4, $5, 'waiting', '', 0, 0, $6, 0, 0, 0, '') RETURNING id`, args,
		func(i int, row db.Row) error { return row.Scan(&deliveries[i].ID) })
	if err != nil {
		return fmt.Errorf("insert deliveries: %w", err)
	}
	args = args[:0]
	for _, d := range deliveries {
		for _, rule := range d.Rules[1:] {
			args = append(args, []any{rule, d.ID})
		}
	}
	if err := tx.Each(ctx, `INSERT INTO notify_delivery_rules (rule_id, delivery_id) VALUES ($1, $2)`, args, nil); err != nil {
		return fmt.Errorf("insert deliveries' rules: %w", err)
	}
	return nil
}

// encodeIDs writes ids as a JSON array.
func encodeIDs(ids []int64) string {
	b, _ := json.Marshal(ids) // integers always encode
	return string(b)
}

func decodeIDs(s string) ([]int64, error) {
	var ids []int64
	if err := json.Unmarshal([]byte(s), &ids); err != nil {
		return nil, fmt.Errorf("decode ids: %w", err)
	}
	return ids, nil
}
