package relay

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// arrival is a message that comes in.
type arrival struct {
	job                // as it is sent: straight from here where nothing is before it
	subject, messageID string
	pieces             [][]byte // of its body, where that is not in the job
}

// accept stores a message and returns when it is durable; from then on it is
// the relay's. It sets the message's id.
func (q *Queue) accept(ctx context.Context, a *arrival) error {
	err := q.arrivals.Do(ctx, a)
	if err == nil {
		return nil
	}
	if fault.Is(err, fault.Unavailable) && q.db.Dialect() == db.Postgres && a.id != 0 {
		// Whether the commit went through is not known. The client hears
		// that it did not, so the message must not go out.
		q.out.doubt(&a.job)
		return err
	}
	q.out.withdrawn(&a.job)
	return err
}

// uncertain forgets a message of our own whose commit failed; where it did not,
// the database says so when it is read again.
func (q *Queue) uncertain(a *arrival) {
	if a != nil {
		q.out.withdrawn(&a.job)
		q.out.reread()
	}
}

// writeArrivals is the hot write of messages.
func (q *Queue) writeArrivals(ctx context.Context, tx *db.Tx, items []*arrival) error {
	messages := make([][]any, len(items))
	now := tx.Now()
	for i, a := range items {
		q.out.withdrawn(&a.job) // an earlier try
		a.queuedAt, a.parts = now, len(a.pieces)
		messages[i] = []any{q.o.NodeID, a.sender, a.subject, a.messageID, a.trace, a.recipients.encode(), a.size,
			db.Bit(a.eightBit), db.Bit(a.utf8), db.Bit(a.openEnd), db.Micros(now), len(a.recipients), a.parts, a.body}
	}
	if err := tx.Each(ctx, "inserting messages",
		`INSERT INTO relay_messages (node_id, sender, subject, message_id, trace, recipients, size, eight_bit, utf8, open_end,
			queued_at, due_at, failed_at, waiting, failed, parts, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, 0, $12, 0, $13, $14) RETURNING id`, messages,
		func(i int, row db.Row) error { return row.Scan(&items[i].id) }); err != nil {
		return err
	}
	if err := insertParts(ctx, tx, items); err != nil {
		return err
	}
	for _, a := range items {
		q.out.arriving(&a.job)
	}
	tx.AfterCommit(func() { q.out.arrived(items) })
	return q.count(ctx, tx, q.o.NodeID, mailqueue.Sizes{Size: int64(len(items))})
}

// insertParts stores the bodies of large messages.
func insertParts(ctx context.Context, tx *db.Tx, items []*arrival) error {
	var parts [][]any
	for _, a := range items {
		for i, piece := range a.pieces {
			parts = append(parts, []any{a.id, i, piece})
		}
	}
	return tx.Each(ctx, "inserting parts", `INSERT INTO relay_parts (message_id, n, data) VALUES ($1, $2, $3)`, parts, nil)
}

// withdraw removes messages whose arrival was refused although it may have
// been committed.
func (q *Queue) withdraw(ctx context.Context) error {
	doubtful := q.out.doubtful()
	if len(doubtful) == 0 {
		return nil
	}
	ids := make([]int64, len(doubtful))
	for i, j := range doubtful {
		ids[i] = j.id
	}
	err := q.db.Write(ctx, func(tx *db.Tx) error { return q.Remove(ctx, tx, ids) })
	if err != nil {
		return fmt.Errorf("withdrawing messages: %w", err)
	}
	for _, j := range doubtful {
		q.out.withdrawn(j)
	}
	return nil
}
