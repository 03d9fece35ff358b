package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"outrigger/internal/db"
)

// The hot inserts. SQLite takes a prepared statement a row, in process;
// PostgreSQL takes one statement for all rows, since there the round trips
// are what costs.

const eventColumns = `connection, event_key, request_id, fingerprint, received_at, outcome, reason,
	project_key, repository_key, rules, event, body`

// insertEventRows inserts the rows in order and sets the id of those that
// were new; the others keep 0.
func insertEventRows(ctx context.Context, tx *db.Tx, rows []*eventRow) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.Dialect() == db.Postgres {
		return insertEventRowsPostgres(ctx, tx, rows)
	}
	for _, e := range rows {
		r := e.receipt
		requestID, fingerprint := e.identity()
		err := tx.QueryRow(ctx, `INSERT INTO notify_events (`+eventColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT DO NOTHING RETURNING id`,
			r.Connection, r.Key, requestID, fingerprint, db.Micros(r.ReceivedAt), string(r.Outcome), r.Reason,
			e.project, e.repository, e.rules, e.event, e.body).Scan(&e.id)
		if err == sql.ErrNoRows {
			e.id = 0
		} else if err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	return nil
}

func insertEventRowsPostgres(ctx context.Context, tx *db.Tx, rows []*eventRow) error {
	ids, err := nextIDs(ctx, tx, "notify_events", len(rows))
	if err != nil {
		return err
	}
	n := len(rows)
	var (
		connections, keys, outcomes, reasons = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		projects, repositories               = make([]string, n), make([]string, n)
		requests                             = make([]any, n)
		fingerprints, events, bodies         = make([][]byte, n), make([][]byte, n), make([][]byte, n)
		received, rules                      = make([]int64, n), make([]int64, n)
		byID                                 = make(map[int64]*eventRow, n)
	)
	for i, e := range rows {
		r := e.receipt
		e.id = 0
		byID[ids[i]] = e
		connections[i], keys[i], outcomes[i], reasons[i] = r.Connection, r.Key, string(r.Outcome), r.Reason
		projects[i], repositories[i] = e.project, e.repository
		requests[i], fingerprints[i] = e.identity()
		received[i], rules[i], events[i], bodies[i] = db.Micros(r.ReceivedAt), int64(e.rules), e.event, e.body
	}
	res, err := tx.Query(ctx, `INSERT INTO notify_events (id, `+eventColumns+`)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::text[], $8::text[],
			$9::text[], $10::text[], $11::bigint[], $12::bytea[], $13::bytea[])
		ON CONFLICT DO NOTHING RETURNING id`,
		ids, connections, keys, requests, fingerprints, received, outcomes, reasons, projects, repositories, rules, events, bodies)
	if err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	defer res.Close()
	for res.Next() {
		var id int64
		if err := res.Scan(&id); err != nil {
			return fmt.Errorf("insert events: %w", err)
		}
		byID[id].id = id
	}
	if err := res.Err(); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	return nil
}

// nextIDs takes n ids of a table in advance, in order. Ids of a later
// transaction are higher, which is what keeps messages in order.
func nextIDs(ctx context.Context, tx *db.Tx, table string, n int) ([]int64, error) {
	rows, err := tx.Query(ctx, `SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)`, table, n)
	if err != nil {
		return nil, fmt.Errorf("take ids of %s: %w", table, err)
	}
	defer rows.Close()
	ids := make([]int64, 0, n)
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("take ids of %s: %w", table, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil || len(ids) != n {
		return nil, fmt.Errorf("take ids of %s: %d of %d: %w", table, len(ids), n, err)
	}
	return ids, nil
}

const deliveryColumns = `event_id, channel_id, format, rules, state, reason, attempts, errors_5xx, created_at, finished_at`

// insertDeliveries inserts waiting deliveries in order and sets their ids.
func insertDeliveries(ctx context.Context, tx *db.Tx, deliveries []*Delivery) error {
	now := tx.Now()
	for _, d := range deliveries {
		d.CreatedAt = now
	}
	if tx.Dialect() == db.Postgres {
		return insertDeliveriesPostgres(ctx, tx, deliveries)
	}
	for _, d := range deliveries {
		err := tx.QueryRow(ctx, `INSERT INTO notify_deliveries (`+deliveryColumns+`)
			VALUES ($1, $2, $3, $4, 'waiting', '', 0, 0, $5, 0) RETURNING id`,
			d.EventID, d.ChannelID, string(d.Format), encodeIDs(d.Rules), db.Micros(d.CreatedAt)).Scan(&d.ID)
		if err != nil {
			return fmt.Errorf("insert delivery: %w", err)
		}
		for _, rule := range d.Rules {
			if _, err := tx.Exec(ctx, `INSERT INTO notify_delivery_rules (rule_id, delivery_id) VALUES ($1, $2)`, rule, d.ID); err != nil {
				return fmt.Errorf("insert delivery's rule: %w", err)
			}
		}
	}
	return nil
}

func insertDeliveriesPostgres(ctx context.Context, tx *db.Tx, deliveries []*Delivery) error {
	ids, err := nextIDs(ctx, tx, "notify_deliveries", len(deliveries))
	if err != nil {
		return err
	}
	n := len(deliveries)
	var (
		events, channels, created = make([]int64, n), make([]int64, n), make([]int64, n)
		formats, rules            = make([]string, n), make([]string, n)
		ruleIDs, deliveryIDs      []int64
	)
	for i, d := range deliveries {
		d.ID = ids[i]
		events[i], channels[i], created[i] = d.EventID, d.ChannelID, db.Micros(d.CreatedAt)
		formats[i], rules[i] = string(d.Format), encodeIDs(d.Rules)
		for _, r := range d.Rules {
			ruleIDs, deliveryIDs = append(ruleIDs, r), append(deliveryIDs, d.ID)
		}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO notify_deliveries (id, `+deliveryColumns+`)
		SELECT id, event_id, channel_id, format, rules, 'waiting', '', 0, 0, created_at, 0
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
			AS t (id, event_id, channel_id, format, rules, created_at)`,
		ids, events, channels, formats, rules, created); err != nil {
		return fmt.Errorf("insert deliveries: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO notify_delivery_rules (rule_id, delivery_id)
		SELECT * FROM unnest($1::bigint[], $2::bigint[])`, ruleIDs, deliveryIDs); err != nil {
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
