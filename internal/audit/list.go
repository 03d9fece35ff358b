package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/db"
)

// Stored is an entry as it is kept.
type Stored struct {
	ID int64 `json:"id" doc:"A newer entry has a larger one."`
	Entry
}

// Place is a project, or a repository, of a connection.
type Place struct{ Connection, Project, Repository string }

// Visible says which entries may be seen. The zero value is none.
type Visible struct {
	All    bool
	Areas  []string // every entry of these
	Places []Place  // what is about one of these, or about something in it
}

// Filter narrows a list. What is empty asks nothing; names are compared without
// case, but for the area.
type Filter struct {
	Who, Area, Action, Object string
	ObjectID                  string    // as it is
	Since, Until              time.Time // from Since on, before Until
	Before                    int64     // ids below this one; 0: all
	Limit                     int
}

// List returns the entries that may be seen, the newest first.
func List(ctx context.Context, tx *db.Tx, v Visible, f Filter) ([]Stored, error) {
	q := conditionsOf(v, f)
	return db.List(ctx, tx, "listing the audit trail", scanStored, `SELECT id, at, who, source, address, request_id, area, action,
		object, object_id, object_name, connection, project, repository, before_json, after_json FROM audit_entries WHERE `+q.text()+`
		ORDER BY id DESC LIMIT `+strconv.Itoa(f.Limit), q.args...)
}

// maxCounted is how many of the newest entries Count looks at: some thousandths of a
// second.
const maxCounted = 20_000

// Count counts what List returns on all pages, to most. It is not known where there are
// too many other entries to look at.
func Count(ctx context.Context, tx *db.Tx, v Visible, f Filter, most int) (n int, known bool, err error) {
	var first, from int64
	err = tx.QueryRow(ctx, `SELECT coalesce((SELECT min(id) FROM audit_entries), 0),
		coalesce((SELECT max(id) FROM audit_entries), 0)`).Scan(&first, &from)
	if err != nil {
		return 0, false, fmt.Errorf("reading the bounds of the audit trail: %w", err)
	}
	from = max(first, from-maxCounted)
	f.Before = 0
	q := conditionsOf(v, f)
	q.add("id >= ?", from)
	n, err = db.CountTo(ctx, tx, most, `SELECT 1 FROM audit_entries WHERE `+q.text(), q.args...)
	return n, n == most || from == first, err
}

func conditionsOf(v Visible, f Filter) (q conditions) {
	q.visible(v)
	q.equal("who", f.Who)
	if f.Area != "" {
		q.add("area = ?", f.Area)
	}
	q.equal("action", f.Action)
	q.equal("object", f.Object)
	if f.ObjectID != "" {
		q.add("object_id = ?", f.ObjectID)
	}
	if !f.Since.IsZero() {
		q.add("at >= ?", db.Micros(f.Since))
	}
	if !f.Until.IsZero() {
		q.add("at < ?", db.Micros(f.Until))
	}
	if f.Before != 0 {
		q.add("id < ?", f.Before)
	}
	return q
}

func scanStored(row db.Row) (e Stored, err error) {
	var before, after string
	if err := row.Scan(&e.ID, db.At(&e.At), &e.Who, &e.Source, &e.Address, &e.RequestID, &e.Area, &e.Action,
		&e.Object, &e.ObjectID, &e.ObjectName, &e.Connection, &e.Project, &e.Repository, &before, &after); err != nil {
		return e, err
	}
	if e.Before, err = members(before); err == nil {
		e.After, err = members(after)
	}
	if err != nil {
		return e, fmt.Errorf("entry %d: %w", e.ID, err)
	}
	return e, nil
}

func members(text string) (m map[string]string, err error) {
	err = json.Unmarshal([]byte(text), &m)
	return m, err
}

// conditions are those of a WHERE, all of which hold, with their arguments.
type conditions struct {
	all  []string
	args []any
}

// add adds a condition, whose arguments are question marks.
func (c *conditions) add(text string, args ...any) {
	for _, arg := range args {
		c.args = append(c.args, arg)
		text = strings.Replace(text, "?", "$"+strconv.Itoa(len(c.args)), 1)
	}
	c.all = append(c.all, text)
}

func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add("LOWER("+column+") = LOWER(?)", value)
	}
}

func (c *conditions) visible(v Visible) {
	if v.All {
		return
	}
	any, args := []string{"1 = 0"}, []any(nil)
	for _, area := range v.Areas {
		any, args = append(any, "area = ?"), append(args, area)
	}
	for _, p := range v.Places {
		one := "connection = ? AND LOWER(project) = LOWER(?)"
		args = append(args, p.Connection, p.Project)
		if p.Repository != "" {
			one += " AND LOWER(repository) = LOWER(?)"
			args = append(args, p.Repository)
		}
		any = append(any, "("+one+")")
	}
	c.add("("+strings.Join(any, " OR ")+")", args...)
}

func (c *conditions) text() string {
	if len(c.all) == 0 {
		return "1 = 1"
	}
	return strings.Join(c.all, " AND ")
}
