package relay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// changed marks a queue as changed, for the node that sends it.
func changed(ctx context.Context, tx *db.Tx, node, what string) error {
	return tx.Do(ctx, "notifying the node of its queue", `UPDATE relay_queues SET `+what+` WHERE $1 IN ('', node_id)`, node)
}

// ResendAll puts the recipients that a filter selects and that failed back into
// the queue, due now.
func (q *Queue) ResendAll(ctx context.Context, f mailqueue.MessageFilter) (int64, error) {
	failed := f.In(mailqueue.Failed)
	n, err := q.sweep(ctx, failed, func(tx *db.Tx, found []*message) error { return q.resendFailed(ctx, tx, found, failed) })
	return n, q.swept(ctx, "resend", f, n, err)
}

// resendFailed makes recipients that failed, and that a filter selects, wait again;
// the count starts again.
func (q *Queue) resendFailed(ctx context.Context, tx *db.Tx, messages []*message, f mailqueue.MessageFilter) error {
	change := make(tallies)
	for _, m := range messages {
		for i := range m.recipients {
			if r := &m.recipients[i]; r.State == mailqueue.Failed && r.selected(f) {
				r.State, r.Attempts, r.Since, r.Due = "", 0, db.Micros(tx.Now()), db.Micros(tx.Now())
			}
		}
		if err := change.save(ctx, tx, m); err != nil {
			return err
		}
	}
	if err := change.notify(ctx, tx); err != nil {
		return err
	}
	return change.count(ctx, tx, q)
}

// Flush makes the recipients that a filter selects and that wait due now, and
// ends a pause after failures; an administrator's pause stays.
func (q *Queue) Flush(ctx context.Context, f mailqueue.MessageFilter) (int64, error) {
	waiting := f.In(mailqueue.Waiting)
	n, err := q.sweep(ctx, waiting, func(tx *db.Tx, found []*message) error {
		change := make(tallies)
		for _, m := range found {
			for i := range m.recipients {
				if r := &m.recipients[i]; r.Due > db.Micros(tx.Now()) && r.selected(waiting) {
					r.Due = db.Micros(tx.Now())
				}
			}
			if err := change.save(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && f.State != mailqueue.Failed {
		err = q.db.Write(ctx, func(tx *db.Tx) error {
			return changed(ctx, tx, f.NodeID, `changes = changes + 1, flushes = flushes + 1`)
		})
	}
	return n, q.swept(ctx, "flush", f, n, err)
}

// DeleteAll takes away the recipients that a filter selects, and messages that
// are left with none. What this node is sending at this moment can no longer be
// called back; on another node, that is so for a second.
func (q *Queue) DeleteAll(ctx context.Context, f mailqueue.MessageFilter) (int64, error) {
	n, err := q.sweep(ctx, f, func(tx *db.Tx, found []*message) error {
		change := make(tallies)
		for _, m := range found {
			m.drop(f)
			if err := change.save(ctx, tx, m); err != nil {
				return err
			}
			tx.AfterCommit(func() { q.out.forget(m.id) })
		}
		if err := change.notify(ctx, tx); err != nil {
			return err
		}
		return change.count(ctx, tx, q)
	})
	return n, q.swept(ctx, "delete", f, n, err)
}

// selected reports whether the filter selects a recipient of the message, as they
// stand now. One that was put back into the queue after the question is none of
// those that wait which it was about.
func (m *message) selected(f mailqueue.MessageFilter) bool {
	return slices.ContainsFunc(m.recipients, func(r recipient) bool { return r.selected(f) })
}

func (r *recipient) selected(f mailqueue.MessageFilter) bool {
	state := cmp.Or(r.State, mailqueue.Waiting)
	if state != mailqueue.Waiting && state != mailqueue.Failed || !f.Selects(r.Address, state) {
		return false
	}
	return f.AsOf.IsZero() || f.State != mailqueue.Waiting || r.Since <= db.Micros(f.AsOf)
}

// drop takes away the recipients that a filter selects. Their places stay: what
// is being sent counts them.
func (m *message) drop(f mailqueue.MessageFilter) {
	for i := range m.recipients {
		if r := &m.recipients[i]; r.selected(f) {
			r.State, r.Due = mailqueue.Deleted, 0
		}
	}
}

// sweep works through the messages that a filter selects and that there are now:
// in slices that others need not wait for. It says how many. More than the user said
// yes to are Conflict.
func (q *Queue) sweep(ctx context.Context, f mailqueue.MessageFilter, do func(tx *db.Tx, found []*message) error) (n int64, err error) {
	var last, after int64
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		if !f.AsOf.IsZero() {
			now, err := count(ctx, tx, f)
			if err != nil {
				return err
			}
			if now > f.Count {
				return fault.New(fault.Conflict, "%s selected, more than the %d of the question. Nothing was done; ask again.",
					mailqueue.MessagesAre(now), f.Count)
			}
		}
		return tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM relay_messages`).Scan(&last)
	})
	for err == nil && after < last {
		err = q.db.WriteBulk(ctx, func(tx *db.Tx) error {
			ids, err := readIDs(ctx, tx, f, after, last)
			if err != nil {
				return err
			}
			var found []*message
			for _, id := range ids {
				if m, err := lock(ctx, tx, id); err != nil {
					return err
				} else if m != nil && m.selected(f) {
					found = append(found, m)
				}
			}
			if err := do(tx, found); err != nil {
				return err
			}
			tx.AfterCommit(func() {
				n += int64(len(found))
				if after = last; len(ids) == slice {
					after = ids[len(ids)-1]
				}
			})
			return nil
		})
	}
	return n, err
}

func readIDs(ctx context.Context, tx *db.Tx, f mailqueue.MessageFilter, after, last int64) (ids []int64, err error) {
	where, args := condition(tx, f, after, last, slice)
	return db.List(ctx, tx, "reading the ids of messages", db.Value[int64],
		`SELECT id FROM relay_messages WHERE id > $1 AND id <= $2`+where+` ORDER BY id LIMIT $3`, args...)
}

// swept records an operation on whole queues and has its node look.
func (q *Queue) swept(ctx context.Context, action string, f mailqueue.MessageFilter, n int64, err error) error {
	defer q.out.queueChanged()
	if err != nil {
		return fmt.Errorf("%s all messages, after %d of them: %w", action, n, err)
	}
	return q.db.Write(ctx, func(tx *db.Tx) error {
		e := mailqueue.AuditEntry(ctx, action, "mail queue", f.NodeID)
		e.After = f.Members()
		delete(e.After, "node") // it is the object
		e.After["messages"] = strconv.FormatInt(n, 10)
		return audit.Record(ctx, tx, e)
	})
}
