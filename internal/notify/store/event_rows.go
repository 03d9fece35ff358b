package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"outrigger/internal/db"
)

// insertEventRows inserts the rows in order and sets the id of those that
// were new; the others, of which the fingerprint was there, have 0.
func insertEventRows(ctx context.Context, tx *db.Tx, rows []*eventRow) error {
	if len(rows) == 0 {
		return nil
	}
	ids, err := reserveIDs(ctx, tx, "notify_events", len(rows))
	if err != nil {
		return err
	}
	c := newEventColumns(len(rows))
	for _, e := range rows {
		e.id = 0
		c.add(e)
	}
	if err := tx.Insert(ctx, "inserting events", db.Insert{
		Into: `notify_events (id, connection, hook, event_key, request_id, fingerprint, received_at, outcome, reason,
			project_key, repository_key, generation, rules, delivery, needed, event, body)`,
		Columns: []any{ids, c.connection, c.hook, c.key, c.requestID, c.fingerprint, c.receivedAt, c.outcome, c.reason,
			c.project, c.repository, c.generation, c.rules, c.delivery, c.needed, c.event, c.body},
		OnConflict: `ON CONFLICT (fingerprint) WHERE fingerprint IS NOT NULL DO NOTHING`,
	}); err != nil {
		return err
	}
	return markInserted(ctx, tx, ids, rows)
}

// eventColumns are rows of notify_events, column by column.
type eventColumns struct {
	connection, hook, key, outcome, reason, project, repository []string
	requestID                                                   []*string
	fingerprint, event, body                                    [][]byte
	receivedAt, generation, rules, delivery, needed             []int64
}

func newEventColumns(n int) *eventColumns {
	texts := func() []string { return make([]string, 0, n) }
	blobs := func() [][]byte { return make([][]byte, 0, n) }
	numbers := func() []int64 { return make([]int64, 0, n) }
	return &eventColumns{
		connection: texts(), hook: texts(), key: texts(), outcome: texts(), reason: texts(), project: texts(), repository: texts(),
		requestID: make([]*string, 0, n), fingerprint: blobs(), event: blobs(), body: blobs(),
		receivedAt: numbers(), generation: numbers(), rules: numbers(), delivery: numbers(), needed: numbers(),
	}
}

func (c *eventColumns) add(e *eventRow) {
	r := e.receipt
	var requestID *string
	var fingerprint []byte
	if e.index == 0 && r.Build == nil { // the others are the same webhook's; of a build the last state tells
		fingerprint = r.Fingerprint()
		if r.RequestID != "" {
			requestID = &r.RequestID
		}
	}
	c.connection, c.hook, c.key = append(c.connection, r.Connection), append(c.hook, r.Hook), append(c.key, r.Key)
	c.requestID, c.fingerprint = append(c.requestID, requestID), append(c.fingerprint, fingerprint)
	c.receivedAt = append(c.receivedAt, db.Micros(r.ReceivedAt))
	c.outcome, c.reason = append(c.outcome, string(r.Outcome)), append(c.reason, r.Why())
	project, repository := "", ""
	if e.of != nil {
		project, repository = e.of.Project.Key, e.of.Repository.Key
	}
	c.project, c.repository = append(c.project, project), append(c.repository, repository)
	c.generation, c.rules = append(c.generation, r.Generation), append(c.rules, int64(e.rules))
	c.delivery, c.needed = append(c.delivery, e.delivery), append(c.needed, int64(e.needed))
	c.event, c.body = append(c.event, e.event), append(c.body, r.Body)
}

// markInserted sets the ids of the rows that are there: RETURNING would cost
// SQLite a table for each row.
func markInserted(ctx context.Context, tx *db.Tx, ids []int64, rows []*eventRow) error {
	var id int64
	return tx.EachRow(ctx, "finding inserted events", func(row db.Row) error {
		err := row.Scan(&id)
		if i, ours := slices.BinarySearch(ids, id); ours {
			rows[i].id = id
		}
		return err
	}, `SELECT id FROM notify_events WHERE id BETWEEN $1 AND $2`, ids[0], ids[len(ids)-1])
}

// reserveIDs returns n ids for new rows, ascending. Those of a later transaction
// are higher, which keeps messages in order.
func reserveIDs(ctx context.Context, tx *db.Tx, table string, n int) ([]int64, error) {
	if tx.Dialect() == db.Postgres {
		return db.List(ctx, tx, "reserving ids of "+table, db.Value[int64],
			`SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)`, table, n)
	}
	var last int64 // the writer is alone
	if err := tx.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM `+table).Scan(&last); err != nil {
		return nil, fmt.Errorf("reserving ids of %s: %w", table, err)
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = last + 1 + int64(i)
	}
	return ids, nil
}

// encodeIDs writes ids as a JSON array.
func encodeIDs(ids []int64) string {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

// decodeIDs reads what encodeIDs wrote; nil for what it did not write.
func decodeIDs(s string) []int64 {
	var ids []int64
	if json.Unmarshal([]byte(s), &ids) != nil {
		return nil
	}
	return ids
}
