package relay

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	more := false
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		due, err := q.listDue(ctx, tx, limit)
		if err != nil {
			return err
		}
		ids := q.out.missing(due)
		more = len(due) == limit || len(ids) > loadBatch
		if found, err = readJobs(ctx, tx, ids[:min(len(ids), loadBatch)]); err != nil {
			return err
		}
		next, err = q.readNext(ctx, tx)
		return err
	})
	if err != nil {
		q.out.loaded(nil, true)
		return 0, fmt.Errorf("reading the messages that are due: %w", err)
	}
	q.out.loaded(found, more)
	return next, nil
}

// loadProbe has a message that is due, and of which nothing was refused, be in
// memory. waits: there is none, and others are due.
func (q *Queue) loadProbe(ctx context.Context, refused *refusals) (waits bool, err error) {
	q.out.loading()
	var found []*job
	due, id := int64(math.MinInt64), int64(0)
	for more := true; more && len(found) == 0 && err == nil; {
		err = q.db.Read(ctx, func(tx *db.Tx) error {
			ids, err := q.listDueFrom(ctx, tx, &due, &id)
			if err != nil {
				return err
			}
			more = len(ids) == loadBatch
			waits = waits || len(ids) > 0
			jobs, err := readJobs(ctx, tx, ids)
			if i := slices.IndexFunc(jobs, refused.allows); err == nil && i >= 0 {
				found = jobs[i : i+1]
			}
			return err
		})
	}
	q.out.loaded(found, true)
	if err != nil {
		return false, fmt.Errorf("looking for a message of another sender: %w", err)
	}
	return waits && len(found) == 0, nil
}

// listDueFrom reads the next messages that are due, behind the one at due and
// id, which it moves.
func (q *Queue) listDueFrom(ctx context.Context, tx *db.Tx, due, id *int64) ([]int64, error) {
	return db.List(ctx, tx, "listing messages that are due", func(row db.Row) (int64, error) {
		err := row.Scan(due, id)
		return *id, err
	}, `SELECT due_at, id FROM relay_messages WHERE node_id = $1 AND waiting > 0 AND due_at <= $2
		AND (due_at, id) > ($3, $4) ORDER BY due_at, id LIMIT $5`, q.o.NodeID, db.Micros(tx.Now()), *due, *id, loadBatch)
}

// listDue reads an index alone.
func (q *Queue) listDue(ctx context.Context, tx *db.Tx, limit int) ([]int64, error) {
	return db.List(ctx, tx, "listing messages that are due", db.Value[int64], `SELECT id FROM relay_messages
		WHERE node_id = $1 AND waiting > 0 AND due_at <= $2 ORDER BY due_at, id LIMIT $3`, q.o.NodeID, db.Micros(tx.Now()), limit)
}

func readJobs(ctx context.Context, tx *db.Tx, ids []int64) ([]*job, error) {
	found := make([]*job, len(ids))
	args := make([][]any, len(ids))
	for i, id := range ids {
		found[i], args[i] = &job{id: id}, []any{id}
	}
	err := tx.Each(ctx, "reading messages", `SELECT sender, trace, recipients, queued_at, size, eight_bit, utf8, open_end, parts, body
		FROM relay_messages WHERE id = $1`, args, func(i int, row db.Row) (err error) {
		j := found[i]
		var eightBit, utf8, openEnd, parts int64
		var to []byte
		if err := row.Scan(&j.sender, &j.trace, &to, db.At(&j.queuedAt), &j.size, &eightBit, &utf8, &openEnd, &parts, &j.body); err != nil {
			return err
		}
		if j.recipients, err = decodeRecipients(to); err != nil {
			return fmt.Errorf("message %d: %w", j.id, err)
		}
		j.eightBit, j.utf8, j.openEnd, j.parts = eightBit == 1, utf8 == 1, openEnd == 1, int(parts)
		j.turn = j.recipients.due(tx.Now())
		return nil
	})
	return found, err
}

// readJob reads one message, with the time of the database; nil: there is none
// of that id.
func (q *Queue) readJob(ctx context.Context, id int64) (j *job, now time.Time, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		now = tx.Now()
		found, err := readJobs(ctx, tx, []int64{id})
		if err == nil {
			j = found[0]
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, now, nil
	}
	if err != nil {
		return nil, now, fmt.Errorf("reading message %d: %w", id, err)
	}
	return j, now, nil
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

// open reads a job's message as it came in. A small one is decompressed into
// buf, where that is given.
func (q *Queue) open(ctx context.Context, j *job, buf *[]byte) (io.ReadCloser, error) {
	switch {
	case j.parts > 0:
		return q.content(ctx, j)
	case j.plain != nil:
		return io.NopCloser(bytes.NewReader(j.plain)), nil
	}
	if buf == nil {
		buf = new([]byte)
	}
	var err error
	*buf, err = q.codec.dec.DecodeAll(j.body, (*buf)[:0])
	return io.NopCloser(bytes.NewReader(*buf)), err
}

// instructions are what administrators want of a queue.
type instructions struct {
	paused           bool
	changes, flushes int64
}

// readInstructions reads them. A queue that was handed over has none.
func (q *Queue) readInstructions(ctx context.Context) (i instructions, err error) {
	_, err = q.db.Find(ctx, "reading the queue's instructions", []any{&i.paused, &i.changes, &i.flushes},
		`SELECT paused, changes, flushes FROM relay_queues WHERE node_id = $1`, q.o.NodeID)
	return i, err
}
