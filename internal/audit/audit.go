// Package audit keeps who changed what, when, from where, and from what to
// what.
package audit

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"outrigger/internal/db"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the audit trail's schema.
var Migrations = db.Migrations{Name: "audit", FS: migrations}

// Entry is one change. A member that does not apply stays empty.
type Entry struct {
	At        time.Time // zero: the time of the transaction
	Who       string    // the user's name
	Source    string    // where that user comes from: two sources may have the same name
	Address   string    // the client's address
	RequestID string    // as in the answer and the log

	Area     string // the part of the program: "notifications", "identity" …
	Action   string // what was done: "create", "update", "delete" …
	Object   string // to what kind of thing: "rule", "token" …
	ObjectID string
	// ObjectName is what people called the thing at the time; empty where its id is
	// its name.
	ObjectName string

	// What the thing is in, which says who may see the entry.
	Connection, Project, Repository string

	// Before and After are its members by name. Callers mask secrets.
	Before, After map[string]string
}

// Record writes an entry in the transaction of the change itself: either both
// are stored or neither. Of Before and After only members that differ are kept,
// so that an entry shows what changed.
func Record(ctx context.Context, tx *db.Tx, e Entry) error {
	_, err := record(ctx, tx, e)
	return err
}

func record(ctx context.Context, tx *db.Tx, e Entry) (id int64, err error) {
	if e.At.IsZero() {
		e.At = tx.Now()
	}
	before, after := difference(e.Before, e.After)
	err = tx.Get(ctx, "recording in the audit trail", []any{&id}, `INSERT INTO audit_entries
		(at, who, source, address, request_id, area, action, object, object_id, object_name,
		connection, project, repository, before_json, after_json)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id`,
		db.Micros(e.At), e.Who, e.Source, e.Address, e.RequestID, e.Area, e.Action, e.Object, e.ObjectID, e.ObjectName,
		e.Connection, e.Project, e.Repository, before, after)
	return id, err
}

// difference gives, as JSON objects, the members of both that the other lacks
// or has with another value.
func difference(before, after map[string]string) (was, is string) {
	return onlyNewIn(before, after), onlyNewIn(after, before)
}

func onlyNewIn(members, other map[string]string) string {
	kept := make(map[string]string)
	for name, value := range members {
		if o, both := other[name]; !both || o != value {
			kept[name] = value
		}
	}
	raw, _ := json.Marshal(kept) // a map of strings always has a JSON form
	return string(raw)
}

// Delete removes up to limit entries from before a time, the oldest first, and
// says how many: what retention calls.
func Delete(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM audit_entries WHERE id IN
		(SELECT id FROM audit_entries WHERE at < $1 ORDER BY at, id LIMIT $2)`, db.Micros(before), limit)
}
