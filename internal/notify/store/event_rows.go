package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"outrigger/internal/db"
	"outrigger/internal/notify"
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
	for i, e := range rows {
		e.id, e.reserved = 0, ids[i]
	}
	if err := insertEvent.Rows(ctx, tx, "inserting events", rows); err != nil {
		return err
	}
	return markInserted(ctx, tx, ids, rows)
}

var insertEvent = db.Insert[*eventRow]{
	Into: `notify_events (id, connection, hook, event_key, request_id, fingerprint, received_at, outcome, reason,
		project_key, repository_key, generation, rules, delivery, needed, event, body)`,
	Columns: []db.Column[*eventRow]{
		db.Number(func(e *eventRow) int64 { return e.reserved }),
		db.Text(func(e *eventRow) string { return e.receipt.Connection }),
		db.Text(func(e *eventRow) string { return e.receipt.Hook }),
		db.Text(func(e *eventRow) string { return e.receipt.Key }),
		db.TextOrNull((*eventRow).requestID),
		db.Blob((*eventRow).fingerprint),
		db.Number(func(e *eventRow) int64 { return db.Micros(e.receipt.ReceivedAt) }),
		db.Text(func(e *eventRow) string { return string(e.receipt.Outcome) }),
		db.Text(func(e *eventRow) string { return e.receipt.Why() }),
		db.Text(func(e *eventRow) string { return e.place().ProjectKey }),
		db.Text(func(e *eventRow) string { return e.place().RepositoryKey }),
		db.Number(func(e *eventRow) int64 { return e.receipt.Generation }),
		db.Number(func(e *eventRow) int64 { return int64(e.rules) }),
		db.Number(func(e *eventRow) int64 { return e.delivery }),
		db.Number(func(e *eventRow) int64 { return int64(e.needed) }),
		db.Blob(func(e *eventRow) []byte { return e.event }),
		db.Blob(func(e *eventRow) []byte { return e.receipt.Body }),
	},
	OnConflict: `ON CONFLICT (fingerprint) WHERE fingerprint IS NOT NULL DO NOTHING`,
}

// identifies reports whether a webhook is known again by this row: the others are the
// same webhook's, and of a build the last state tells.
func (e *eventRow) identifies() bool { return e.index == 0 && e.receipt.Build == nil }

func (e *eventRow) fingerprint() []byte {
	if !e.identifies() {
		return nil
	}
	return e.receipt.Fingerprint()
}

func (e *eventRow) requestID() *string {
	if !e.identifies() || e.receipt.RequestID == "" {
		return nil
	}
	return &e.receipt.RequestID
}

func (e *eventRow) place() notify.RepositoryRef {
	if e.of == nil {
		return notify.RepositoryRef{}
	}
	return notify.RepositoryRef{ProjectKey: e.of.Project.Key, RepositoryKey: e.of.Repository.Key}
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
	if err := tx.Get(ctx, "reserving ids of "+table, []any{&last}, `SELECT coalesce(max(id), 0) FROM `+table); err != nil {
		return nil, err
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
