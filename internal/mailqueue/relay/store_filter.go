package relay

import (
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// condition is what a filter asks of a row of relay_messages, as the rest of a
// WHERE clause whose own arguments come first.
func condition(tx *db.Tx, f mailqueue.MessageFilter, first ...any) (where string, args []any) {
	args = first
	ask := func(format string, arg any) {
		args = append(args, arg)
		where += " AND " + fmt.Sprintf(format, len(args))
	}
	switch f.State {
	case mailqueue.Waiting:
		where += ` AND waiting > 0`
	case mailqueue.Failed:
		where += ` AND failed > 0`
	}
	if f.NodeID != "" {
		ask(`node_id = $%d`, f.NodeID)
	}
	if f.Sender != "" {
		ask(`LOWER(sender) LIKE $%d ESCAPE '\'`, containing(f.Sender))
	}
	if f.Subject != "" {
		ask(`LOWER(subject) LIKE $%d ESCAPE '\'`, containing(f.Subject))
	}
	now := tx.Now()
	if !f.AsOf.IsZero() {
		now = f.AsOf
		if f.State == mailqueue.Failed {
			ask(`failed_at <= $%d`, db.Micros(now)) // of the latest change, where it has several recipients
		}
	}
	if f.Age > 0 || !f.AsOf.IsZero() {
		ask(`queued_at <= $%d`, db.Micros(now.Add(-f.Age)))
	}
	if f.IDs != nil {
		// Without any, no message is asked for; ids begin with 1.
		in := []string{"0"}
		for _, id := range f.IDs {
			args = append(args, id)
			in = append(in, fmt.Sprintf("$%d", len(args)))
		}
		where += " AND id IN (" + strings.Join(in, ", ") + ")"
	}
	if f.Recipient != "" {
		ask(recipientCondition(tx.Dialect(), f.State), containing(f.Recipient))
	}
	return where, args
}

// recipientCondition is for one recipient that waits or failed, as a state asks.
func recipientCondition(d db.Dialect, s mailqueue.State) string {
	list, address, state := `json_each(recipients)`, `json_extract(value, '$.to')`, `COALESCE(json_extract(value, '$.state'), '')`
	if d == db.Postgres {
		list, address, state = `jsonb_array_elements(recipients::jsonb) AS one(value)`, `value->>'to'`, `COALESCE(value->>'state', '')`
	}
	in := `('', 'error')`
	switch s {
	case mailqueue.Waiting:
		in = `('')`
	case mailqueue.Failed:
		in = `('error')`
	}
	return `EXISTS (SELECT 1 FROM ` + list + ` WHERE LOWER(` + address + `) LIKE $%d ESCAPE '\' AND ` + state + ` IN ` + in + `)`
}

// containing is the pattern of texts with a part, in lower case.
func containing(part string) string {
	part = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part)
	return "%" + strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, part) + "%"
}
