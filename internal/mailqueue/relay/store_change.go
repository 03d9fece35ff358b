package relay

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// message is how a message stands, locked for a change.
type message struct {
	id         int64
	node       string
	queuedAt   time.Time
	recipients recipients
	was        mailqueue.Sizes // what it counted as
}

// lock reads how a message stands and keeps others from changing it; nil when
// there is none of that id.
func lock(ctx context.Context, tx *db.Tx, id int64) (*message, error) {
	m := &message{id: id}
	var text []byte
	found, err := tx.Find(ctx, fmt.Sprintf("reading message %d", id), []any{&m.node, db.At(&m.queuedAt), &text},
		`SELECT node_id, queued_at, recipients FROM relay_messages WHERE id = $1`+tx.ForUpdate(), id)
	if err != nil || !found {
		return nil, err
	}
	if m.recipients, err = decodeRecipients(text); err != nil {
		return nil, fmt.Errorf("reading message %d: %w", id, err)
	}
	waiting, failed := m.recipients.count()
	m.was = sizesOf(waiting, failed)
	return m, nil
}

// count counts those that wait and those that failed.
func (list recipients) count() (waiting, failed int64) {
	for i := range list {
		switch list[i].State {
		case "":
			waiting++
		case mailqueue.Failed:
			failed++
		}
	}
	return waiting, failed
}

// sizesOf is what a message with such recipients adds to its queue.
func sizesOf(waiting, failed int64) mailqueue.Sizes {
	return mailqueue.Sizes{Size: min(waiting, 1), ErrorSize: min(failed, 1)}
}

// tallies are the changes of one transaction, by node.
type tallies map[string]mailqueue.Sizes

func (t tallies) add(node string, s mailqueue.Sizes, times int64) {
	sum := t[node]
	sum.Size += times * s.Size
	sum.ErrorSize += times * s.ErrorSize
	t[node] = sum
}

// notify marks the queues as changed, in the same order in every transaction.
func (t tallies) notify(ctx context.Context, tx *db.Tx) error {
	for _, node := range slices.Sorted(maps.Keys(t)) {
		if err := changed(ctx, tx, node, `changes = changes + 1`); err != nil {
			return err
		}
	}
	return nil
}

// count writes the changes, in the same order in every transaction.
func (t tallies) count(ctx context.Context, tx *db.Tx, q *Queue) error {
	for _, node := range slices.Sorted(maps.Keys(t)) {
		if t[node] == (mailqueue.Sizes{}) {
			continue
		}
		if err := q.count(ctx, tx, node, t[node]); err != nil {
			return err
		}
	}
	return nil
}

// save writes down how a message stands after its recipients changed, and
// deletes it once no recipient is waiting and none failed.
func (t tallies) save(ctx context.Context, tx *db.Tx, m *message) error {
	waiting, failed := m.recipients.count()
	if waiting+failed == 0 {
		return t.remove(ctx, tx, m)
	}
	t.add(m.node, m.was, -1)
	t.add(m.node, sizesOf(waiting, failed), 1)
	failedAt, due := int64(0), int64(math.MaxInt64)
	if failed > 0 {
		failedAt = db.Micros(tx.Now())
	}
	for i := range m.recipients {
		if r := &m.recipients[i]; r.waits() {
			due = min(due, r.Due)
		}
	}
	return tx.Do(ctx, fmt.Sprintf("updating message %d", m.id),
		`UPDATE relay_messages SET recipients = $2, waiting = $3, failed = $4, due_at = $5, failed_at = $6
		WHERE id = $1`,
		m.id, m.recipients.encode(), waiting, failed, due, failedAt)
}

// remove deletes a message, whatever its state.
func (t tallies) remove(ctx context.Context, tx *db.Tx, m *message) error {
	t.add(m.node, m.was, -1)
	if err := tx.Do(ctx, fmt.Sprintf("deleting message %d", m.id), `DELETE FROM relay_messages WHERE id = $1`, m.id); err != nil {
		return err
	}
	return deleteWithThem(ctx, tx, []int64{m.id})
}

// removeByID does so by its id, if it is there.
func (t tallies) removeByID(ctx context.Context, tx *db.Tx, id int64) (found bool, err error) {
	m, err := lock(ctx, tx, id)
	if err != nil || m == nil {
		return false, err
	}
	return true, t.remove(ctx, tx, m)
}

// deleteWithThem deletes what belongs to messages.
func deleteWithThem(ctx context.Context, tx *db.Tx, ids []int64) error {
	args := make([][]any, len(ids))
	for i, id := range ids {
		args[i] = []any{id}
	}
	for _, table := range [...]string{"relay_attempts", "relay_parts"} {
		if err := tx.Each(ctx, "deleting from "+table, `DELETE FROM `+table+` WHERE message_id = $1`, args, nil); err != nil {
			return err
		}
	}
	return nil
}
