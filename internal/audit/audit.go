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
	At        time.Time `json:"at" doc:"When it was done."` // zero: the time of the transaction
	Who       string    `json:"who" doc:"The user; empty for changes that Outrigger made itself."`
	Source    string    `json:"source,omitempty" doc:"Where that user comes from: local, a connection or oidc."`
	Address   string    `json:"address,omitempty" doc:"The client's address."`
	RequestID string    `json:"requestId,omitempty" doc:"As in the answer and the log."`

	Area       string `json:"area" doc:"The part of the program."`               // "notifications", "identity" …
	Action     string `json:"action" doc:"What was done, such as create."`       // "update", "delete" …
	Object     string `json:"object" doc:"To what kind of thing, such as rule."` // "token" …
	ObjectID   string `json:"objectId,omitempty" doc:"The thing's id, or the name that is its id; absent where there is one such thing."`
	ObjectName string `json:"objectName,omitempty" doc:"What the thing was called at the time; absent where its id is its name."`

	// What the thing is in, which says who may see the entry.
	Connection string `json:"connection,omitempty" doc:"The connection that the thing is of; absent where it is of none."`
	Project    string `json:"projectKey,omitempty" doc:"The project that the thing is in; absent where it is in none."`
	Repository string `json:"repositoryKey,omitempty" doc:"The repository that the thing is in; absent where it is in none."`

	// Callers mask secrets.
	Before map[string]string `json:"before,omitempty" doc:"The members that changed, as they were."`
	After  map[string]string `json:"after,omitempty" doc:"The same members as they are now."`
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

// Many is one entry about a change of many things that takes several transactions:
// the first that changes something records it, and each further one says in it how
// far the change has come.
type Many struct{ id int64 }

// Record writes the entry of what is done by now, in the transaction that did the
// last part of it.
func (m *Many) Record(ctx context.Context, tx *db.Tx, e Entry) error {
	if m.id == 0 {
		id, err := record(ctx, tx, e)
		tx.AfterCommit(func() { m.id = id })
		return err
	}
	before, after := difference(e.Before, e.After)
	return tx.Do(ctx, "recording in the audit trail",
		`UPDATE audit_entries SET object_id = $1, before_json = $2, after_json = $3 WHERE id = $4`,
		e.ObjectID, before, after, m.id)
}
