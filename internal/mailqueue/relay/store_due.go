package relay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"outrigger/internal/db"
)

// loadBatch is how many due messages are read at a time: with bodies of up to
// 64 KiB in their rows at most 4 MiB.
const loadBatch = 64

// load reads messages that are due. next is how long until another one is,
// when none is left now; negative: none waits at all.
func (q *Queue) load(ctx context.Context) (next time.Duration, err error) {
	limit := q.out.loading() + loadBatch
	var found []*job
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		if found, err = q.readDue(ctx, tx, limit); err != nil {
			return err
		}
		next, err = q.readNext(ctx, tx)
		return err
	})
	if err != nil {
		q.out.loaded(nil, true)
		return 0, fmt.Errorf("read the messages that are due: %w", err)
	}
	q.out.loaded(found, len(found) == limit)
	return next, nil
}

func (q *Queue) readDue(ctx context.Context, tx *db.Tx, limit int) ([]*job, error) {
	rows, err := tx.Query(ctx, `SELECT id, sender, trace, recipients, queued_at, size, eight_bit, utf8, open_end, parts, body FROM relay_messages
		WHERE node_id = $1 AND waiting > 0 AND due_at <= $2 ORDER BY due_at, id LIMIT $3`, q.o.NodeID, db.Micros(tx.Now()), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*job
	for rows.Next() {
		j := new(job)
		var queued int64
		var to []byte
		if err := rows.Scan(&j.id, &j.sender, &j.trace, &to, &queued, &j.size, &j.eightBit, &j.utf8, &j.openEnd, &j.parts, &j.body); err != nil {
			return nil, err
		}
		if j.recipients, err = decodeRecipients(to); err != nil {
			return nil, fmt.Errorf("message %d: %w", j.id, err)
		}
		j.queuedAt, j.turn = db.Time(queued), j.recipients.due(tx.Now())
		found = append(found, j)
	}
	return found, rows.Err()
}

func (q *Queue) readNext(ctx context.Context, tx *db.Tx) (time.Duration, error) {
	var due *int64
	err := tx.QueryRow(ctx, `SELECT MIN(due_at) FROM relay_messages WHERE node_id = $1 AND waiting > 0 AND due_at > $2`,
		q.o.NodeID, db.Micros(tx.Now())).Scan(&due)
	if err != nil || due == nil {
		return -1, err
	}
	return db.Time(*due).Sub(tx.Now()), nil
}

// content reads a job's message as it came in.
func (q *Queue) content(ctx context.Context, j *job) (io.ReadCloser, error) {
	n := 0
	return q.codec.open(func() (part []byte, err error) {
		if n == j.parts {
			return nil, io.EOF
		}
		err = q.db.Read(ctx, func(tx *db.Tx) error {
			return tx.QueryRow(ctx, `SELECT data FROM relay_parts WHERE message_id = $1 AND n = $2`, j.id, n).Scan(&part)
		})
		n++
		return part, err
	})
}

// instructions are what administrators want of a queue.
type instructions struct {
	paused           bool
	changes, flushes int64
}

// instructed reads them. A queue that was handed over has none.
func (q *Queue) instructed(ctx context.Context) (i instructions, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(ctx, `SELECT paused, changes, flushes FROM relay_queues WHERE node_id = $1`, q.o.NodeID).
			Scan(&i.paused, &i.changes, &i.flushes)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return i, fmt.Errorf("read the queue's instructions: %w", err)
	}
	return i, nil
}
