package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// maxEventsRead is how many events one reading looks through: some hundredths
// of a second, since an open reading keeps SQLite's log from being emptied.
const maxEventsRead = 10_000

const loggedColumns = `id, connection, hook, event_key, received_at, outcome, reason, project_key, repository_key,
	generation, rules, delivery, needed, event, coalesce(octet_length(body), 0)`

// ListEvents returns the newest events that f lets through among some thousand;
// Next of the page says where the next call goes on.
func (s *Store) ListEvents(ctx context.Context, f notify.EventFilter) (notify.EventPage, error) {
	var page notify.EventPage
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		first, end, err := eventRange(ctx, tx, &f)
		if err != nil || first >= end {
			return err
		}
		from := first
		if f.Fate != notify.EventNotUnderstood { // which have an index, and are few
			from = max(first, end-maxEventsRead)
		}
		if page.Events, err = readLogged(ctx, tx, &f, from, end); err != nil {
			return err
		}
		if len(page.Events) == f.Limit {
			from = page.Events[f.Limit-1].ID
		}
		if from > first {
			page.Next = from
		}
		return nil
	})
	return page, err
}

// eventRange returns the ids that f's times and page can mean: from first up to,
// and without, end.
func eventRange(ctx context.Context, tx *db.Tx, f *notify.EventFilter) (first, end int64, err error) {
	if err := tx.Get(ctx, "reading the bounds of events", []any{&first, &end}, idBounds("notify_events")); err != nil {
		return 0, 0, err
	}
	if !f.Since.IsZero() {
		if first, err = firstSince(ctx, tx, "notify_events", "received_at", f.Since); err != nil {
			return 0, 0, err
		}
	}
	if !f.Until.IsZero() {
		if end, err = firstSince(ctx, tx, "notify_events", "received_at", f.Until); err != nil {
			return 0, 0, err
		}
	}
	if f.Before != 0 {
		end = min(end, f.Before)
	}
	return first, end, nil
}

// readLogged reads the events of a range of ids that f lets through, the newest
// first, at most f.Limit.
func readLogged(ctx context.Context, tx *db.Tx, f *notify.EventFilter, from, end int64) ([]notify.LoggedEvent, error) {
	where, args := eventConditions(f, from, end)
	where += " DESC"
	if f.Types == 0 { // which SQL does not know
		where += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	rows, err := tx.Query(ctx, `SELECT `+loggedColumns+` FROM notify_events WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	defer rows.Close()
	var out []notify.LoggedEvent
	for len(out) < f.Limit && rows.Next() {
		e, raw, err := scanLogged(rows)
		if err != nil {
			return nil, fmt.Errorf("reading events: %w", err)
		}
		if !mayHaveType(raw, f.Types) {
			continue
		}
		e.Event = decodeEvent(raw)
		if f.Types == 0 || e.Event != nil && f.Types.Any(e.Event.TypeSet()) {
			out = append(out, e)
		}
	}
	return out, rows.Err()
}

// eventConditions write f as SQL, up to the name of what the rows are ordered by.
func eventConditions(f *notify.EventFilter, from, end int64) (where string, args []any) {
	id := "id"
	if f.Fate == notify.EventNotUnderstood {
		id = "+id" // is no column, so that the other index is taken
	}
	conditions := []string{id + " >= $1", id + " < $2", "outcome <> 'report'"}
	args = []any{from, end}
	ask := func(condition string, values ...string) {
		places := make([]any, len(values))
		for i, v := range values {
			args = append(args, clean(v))
			places[i] = fmt.Sprintf("$%d", len(args))
		}
		conditions = append(conditions, fmt.Sprintf(condition, places...))
	}
	if f.Connection != "" {
		ask("connection = %s", f.Connection)
	}
	// Keys have no letters but those of ASCII, which lower is for.
	if f.Project != "" {
		ask("lower(project_key) = %s", notify.Fold(f.Project))
	}
	if f.Repository != "" {
		ask("lower(repository_key) = %s", notify.Fold(f.Repository))
	}
	if f.Understood {
		ask("outcome = 'understood'")
	}
	switch f.Fate {
	case "":
	case notify.EventTaken:
		ask("rules > 0")
	case notify.EventNotTaken:
		ask("outcome = 'understood' AND rules = 0")
	case notify.EventNotUnderstood: // spelled out, as its index is
		ask("outcome = 'not_understood'")
	default:
		ask("outcome = %s", string(f.Fate))
	}
	if f.Places != nil {
		condition, keys := inPlaces(f.Places)
		ask(condition, keys...)
	}
	return strings.Join(conditions, " AND ") + " ORDER BY " + id, args
}

// inPlaces writes that an event is about one of the places, or about something in one,
// and returns the arguments.
func inPlaces(places []identity.Resource) (condition string, keys []string) {
	var projects, repositories []string
	for _, p := range places {
		if p.Repository == "" {
			projects = append(projects, p.Connection+"/"+notify.Fold(p.Project))
		} else {
			repositories = append(repositories, p.Connection+"/"+notify.Fold(p.Project)+"/"+notify.Fold(p.Repository))
		}
	}
	const project = "connection || '/' || lower(project_key)"
	return "project_key <> '' AND (" + oneOf(project, len(projects)) + " OR " +
		oneOf(project+" || '/' || lower(repository_key)", len(repositories)) + ")", append(projects, repositories...)
}

// oneOf writes that an expression has one of n values.
func oneOf(expression string, n int) string {
	if n == 0 {
		return "FALSE"
	}
	return expression + " IN (%s" + strings.Repeat(", %s", n-1) + ")"
}

// mayHaveType reports whether the JSON of an event can hold any of the types, so
// that the others need not be decoded.
func mayHaveType(event []byte, types notify.TypeSet) bool {
	if types == 0 {
		return true
	}
	for _, t := range types.Types() {
		if bytes.Contains(event, []byte(`"`+t.String()+`"`)) {
			return true
		}
	}
	return false
}

// scanLogged reads a row; its event is valid until the next one.
func scanLogged(row db.Row) (e notify.LoggedEvent, event sql.RawBytes, err error) {
	err = row.Scan(&e.ID, &e.Connection, &e.Hook, &e.Key, db.At(&e.ReceivedAt), &e.Outcome, &e.Reason, &e.Project, &e.Repository,
		&e.Generation, &e.Rules, &e.FirstDelivery, &e.Deliveries, &event, &e.BodySize)
	return e, event, err
}

// decodeEvent reads a stored event; nil for one that cannot be read.
func decodeEvent(raw []byte) *notify.Event {
	e := new(notify.Event)
	if json.Unmarshal(raw, e) != nil || len(e.Types) == 0 {
		return nil
	}
	return e
}

// LoggedEvent returns one event: fault.NotFound where there is none with the id.
func (s *Store) LoggedEvent(ctx context.Context, id int64) (e notify.LoggedEvent, err error) {
	found, err := db.ReadList(ctx, s.db, "reading event", func(row db.Row) (notify.LoggedEvent, error) {
		e, raw, err := scanLogged(row)
		e.Event = decodeEvent(raw)
		return e, err
	}, `SELECT `+loggedColumns+` FROM notify_events WHERE id = $1 AND outcome <> 'report'`, id)
	return only(found, err, "There is no event with id %d.", id)
}

// EventBody returns what is kept of a webhook that was not understood, at most max
// bytes: fault.NotFound where nothing is.
func (s *Store) EventBody(ctx context.Context, id int64, max int) (body []byte, err error) {
	found, err := s.db.Find(ctx, "reading an event's body", []any{&body},
		`SELECT substr(body, 1, $1) FROM notify_events WHERE id = $2 AND body IS NOT NULL`, max, id)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "No body is kept of event %d.", id)
	}
	return body, err
}

// deliverySpan bounds how far the ids of one event's deliveries can be apart.
// They are taken at once; only other nodes' may be among them.
const deliverySpan = 1 << 16

// EventDeliveries returns the deliveries of an event that are kept.
func (s *Store) EventDeliveries(ctx context.Context, e *notify.LoggedEvent) (found []*notify.Delivery, err error) {
	if e.FirstDelivery == 0 || e.Deliveries == 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err = readDeliveries(ctx, tx, `SELECT `+deliveryColumns+`, NULL FROM notify_deliveries d
			WHERE d.id >= $1 AND d.id < $2 AND d.event_id = $3 ORDER BY d.id LIMIT $4`,
			e.FirstDelivery, e.FirstDelivery+deliverySpan, e.ID, e.Deliveries)
		if err != nil {
			return err
		}
		return readUndecidedRules(ctx, tx, found)
	})
	for _, d := range found {
		d.Event = e.Event
	}
	return found, err
}
