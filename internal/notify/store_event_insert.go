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
	ids, err := takeIDs(ctx, tx, "notify_events", len(rows))
	if err != nil {
		return err
	}
	args := make([][]any, len(rows))
	byID := make(map[int64]*eventRow, len(rows))
	for i, e := range rows {
		e.id = 0
		byID[ids[i]] = e
		r := e.receipt
		requestID, fingerprint := e.identity()
		args[i] = []any{
			ids[i], r.Connection, r.Key, requestID, fingerprint, db.Micros(r.ReceivedAt), string(r.Outcome), r.Reason,
			e.project, e.repository, e.rules, e.needed, orNull(e.event), orNull(e.body),
		}
	}
	if err := tx.Each(ctx, `INSERT INTO notify_events (id, connection, event_key, request_id, fingerprint, received_at, outcome, reason,
			project_key, repository_key, rules, needed, event, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT DO NOTHING`, args, nil); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	return markInserted(ctx, tx, ids, byID)
}

// markInserted sets the ids of the rows that are there: RETURNING would cost
// SQLite a table for each row.
func markInserted(ctx context.Context, tx *db.Tx, ids []int64, byID map[int64]*eventRow) error {
	rows, err := tx.Query(ctx, `SELECT id FROM notify_events WHERE id BETWEEN $1 AND $2`, ids[0], ids[len(ids)-1])
	if err != nil {
		return fmt.Errorf("find inserted events: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("find inserted events: %w", err)
		}
		if e := byID[id]; e != nil {
			e.id = id
		}
	}
	return rows.Err()
}

// takeIDs gives n ids for new rows, ascending. Those of a later transaction
// are higher, which keeps messages in order.
func takeIDs(ctx context.Context, tx *db.Tx, table string, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	if tx.Dialect() == db.SQLite { // whose writer is alone
		var last int64
		if err := tx.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM `+table).Scan(&last); err != nil {
			return nil, fmt.Errorf("take ids of %s: %w", table, err)
		}
		for i := range n {
			ids = append(ids, last+1+int64(i))
		}
		return ids, nil
	}
	rows, err := tx.Query(ctx, `SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)`, table, n)
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("take ids of %s: %w", table, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", table, err)
	}
	return ids, nil
}

// orNull is NULL for bytes that are not there.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// insertDeliveries inserts waiting deliveries in order and sets their ids.
func insertDeliveries(ctx context.Context, tx *db.Tx, deliveries []*Delivery) error {
	ids, err := takeIDs(ctx, tx, "notify_deliveries", len(deliveries))
	if err != nil {
		return err
	}
	args := make([][]any, len(deliveries))
	for i, d := range deliveries {
		d.ID, d.CreatedAt = ids[i], tx.Now()
		args[i] = []any{d.ID, d.EventID, d.ChannelID, string(d.Format), d.Rules[0], encodeIDs(d.Rules), db.Micros(d.CreatedAt)}
	}
	if err := tx.Each(ctx, `INSERT INTO notify_deliveries (id, event_id, channel_id, format, rule_id, rules, state, reason, attempts,
			errors_5xx, created_at, finished_at, took, status, answer)
		VALUES ($1, $2, $3, $4, $5, $6, 'waiting', '', 0, 0, $7, 0, 0, 0, '')`, args, nil); err != nil {
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

// decodeIDs reads what encodeIDs wrote; nil for what it did not write.
func decodeIDs(s string) []int64 {
	var ids []int64
	if json.Unmarshal([]byte(s), &ids) != nil {
		return nil
	}
	return ids
}
