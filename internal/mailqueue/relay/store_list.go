package relay

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// sizesByNode counts the queue of every node that has one in the database.
func (q *Queue) sizesByNode(ctx context.Context) (map[string]mailqueue.Sizes, error) {
	sizes := make(map[string]mailqueue.Sizes)
	err := q.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "reading the sizes of the mail queues", func(row db.Row) error {
			var node string
			var s mailqueue.Sizes
			err := row.Scan(&node, &s.Size, &s.ErrorSize)
			sizes[node] = s
			return err
		}, `SELECT node_id, size, error_size FROM relay_queues`)
	})
	return sizes, err
}

// Queues returns the queue of every node that has one in the database, ordered
// by node.
func (q *Queue) Queues(ctx context.Context) (list []mailqueue.RelayQueue, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		if list, err = readQueues(ctx, tx); err != nil {
			return err
		}
		for i := range list {
			if list[i].Oldest, err = readOldest(ctx, tx, list[i].NodeID); err != nil {
				return err
			}
			if list[i].OldestError, err = readOldestError(ctx, tx, list[i].NodeID); err != nil {
				return err
			}
			if !list[i].HeldUntil.After(tx.Now()) {
				list[i].HeldUntil, list[i].HeldFor = time.Time{}, ""
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the mail queues: %w", err)
	}
	return list, nil
}

func readQueues(ctx context.Context, tx *db.Tx) ([]mailqueue.RelayQueue, error) {
	return db.List(ctx, tx, "listing them", func(row db.Row) (one mailqueue.RelayQueue, err error) {
		err = row.Scan(&one.NodeID, &one.Size, &one.ErrorSize, &one.Paused, db.At(&one.HeldUntil), &one.HeldFor, &one.NoSmarthost, &one.Used)
		return one, err
	}, `SELECT node_id, size, error_size, paused, held_until, held_for, no_smarthost, used FROM relay_queues ORDER BY node_id`)
}

// readOldest is when the oldest message of a queue came in; zero: none waits.
func readOldest(ctx context.Context, tx *db.Tx, node string) (time.Time, error) {
	return readTime(ctx, tx, `SELECT queued_at FROM relay_messages WHERE node_id = $1 AND waiting > 0 ORDER BY id LIMIT 1`, node)
}

// readOldestError is when the oldest message of an error queue failed; zero: there
// is none.
func readOldestError(ctx context.Context, tx *db.Tx, node string) (time.Time, error) {
	return readTime(ctx, tx, `SELECT failed_at FROM relay_messages WHERE node_id = $1 AND failed > 0 ORDER BY id LIMIT 1`, node)
}

func readTime(ctx context.Context, tx *db.Tx, query, node string) (at time.Time, err error) {
	_, err = tx.Find(ctx, "reading a time of a queue", []any{db.At(&at)}, query, node)
	return at, err
}

const messageSelect = `SELECT id, node_id, message_id, subject, sender, recipients, size, queued_at FROM relay_messages`

// Messages lists messages, the oldest first.
func (q *Queue) Messages(ctx context.Context, f mailqueue.MessageFilter) (list []mailqueue.Message, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		where, args := condition(tx, f, f.After, f.Limit)
		list, err = db.List(ctx, tx, "reading messages", scanMessage, messageSelect+` WHERE id > $1`+where+` ORDER BY id LIMIT $2`, args...)
		return err
	})
	return list, err
}

// Count says how many messages a filter selects, and when that was.
func (q *Queue) Count(ctx context.Context, f mailqueue.MessageFilter) (n int64, at time.Time, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) (err error) {
		at = tx.Now()
		n, err = count(ctx, tx, f)
		return err
	})
	return n, at, err
}

func count(ctx context.Context, tx *db.Tx, f mailqueue.MessageFilter) (n int64, err error) {
	where, args := condition(tx, f, 0)
	err = tx.Get(ctx, "counting messages", []any{&n}, `SELECT COUNT(*) FROM relay_messages WHERE id > $1`+where, args...)
	return n, err
}

// maxSearched is how many messages Total looks at for texts and ages, which have no
// index: some hundredths of a second.
const maxSearched = 10_000

// Total counts the messages of a filter, to most, from the indexes that states have: a
// message waits for a recipient, or has failed for all that are left, or both.
func (q *Queue) Total(ctx context.Context, f mailqueue.MessageFilter, most int) (n int, known bool, err error) {
	if f.Sender+f.Subject+f.Recipient != "" || f.Age > 0 {
		return q.searched(ctx, f, most)
	}
	states := []string{`waiting > 0`, `failed > 0 AND waiting = 0`}
	switch f.State {
	case mailqueue.Waiting:
		states = states[:1]
	case mailqueue.Failed:
		states = []string{`failed > 0`}
	}
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		for _, state := range states {
			more, err := db.CountTo(ctx, tx, most, `SELECT 1 FROM relay_messages WHERE `+state+` AND ($1 = '' OR node_id = $1)`, f.NodeID)
			if n += more; err != nil {
				return err
			}
		}
		return nil
	})
	return min(n, most), true, err
}

// searched is Total by looking at the messages, the oldest first. It is not known where
// there are more than maxSearched.
func (q *Queue) searched(ctx context.Context, f mailqueue.MessageFilter, most int) (n int, known bool, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		end := int64(math.MaxInt64)
		more, err := tx.Find(ctx, "reading how many messages there are", []any{&end},
			`SELECT id FROM relay_messages WHERE id > 0 ORDER BY id LIMIT 1 OFFSET $1`, maxSearched)
		if err != nil {
			return err
		}
		where, args := condition(tx, f, 0, end)
		n, err = db.CountTo(ctx, tx, most, `SELECT 1 FROM relay_messages WHERE id > $1 AND id < $2`+where, args...)
		known = !more || n == most
		return err
	})
	return n, known, err
}

func scanMessage(row db.Row) (m mailqueue.Message, err error) {
	var text []byte
	if err := row.Scan(&m.ID, &m.NodeID, &m.MessageID, &m.Subject, &m.Sender, &text, &m.Bytes, db.At(&m.QueuedAt)); err != nil {
		return m, err
	}
	to, err := decodeRecipients(text)
	if err != nil {
		return m, fmt.Errorf("message %d: %w", m.ID, err)
	}
	show(&m, to)
	return m, nil
}

// show adds the recipients, and what a message has of them together.
func show(m *mailqueue.Message, to recipients) {
	m.Recipients = make([]mailqueue.Recipient, len(to))
	for i, r := range to {
		one := mailqueue.Recipient{Address: r.Address, State: r.State, SendCount: r.Attempts, LastError: r.Answer}
		switch {
		case r.State == mailqueue.Sent, r.State == mailqueue.Deleted:
			one.LastError = ""
		case r.waits():
			one.State, one.DueAt = mailqueue.Waiting, db.Time(r.Due)
			if r.Due == 0 {
				one.DueAt = m.QueuedAt
			}
			if m.DueAt.IsZero() || one.DueAt.Before(m.DueAt) {
				m.DueAt = one.DueAt
			}
		}
		m.Recipients[i] = one
		m.SendCount = max(m.SendCount, one.SendCount)
		if one.State == mailqueue.Failed || m.LastError == "" {
			m.LastError = one.LastError
		}
	}
	m.States = mailqueue.StatesOf(m.Recipients)
}

// Message returns one message with its attempts: fault.NotFound when there is none
// of that id.
func (q *Queue) Message(ctx context.Context, id int64) (m mailqueue.Message, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		if m, err = db.One(ctx, tx, noMessage(id), scanMessage, messageSelect+` WHERE id = $1`, id); err != nil {
			return err
		}
		m.Attempts, err = readAttempts(ctx, tx, id)
		return err
	})
	return m, err
}

func noMessage(id int64) error {
	return fault.New(fault.NotFound, "There is no message with id %d: it was sent, or deleted.", id)
}

func readAttempts(ctx context.Context, tx *db.Tx, id int64) ([]mailqueue.Attempt, error) {
	return db.List(ctx, tx, fmt.Sprintf("reading the attempts of message %d", id), func(row db.Row) (a mailqueue.Attempt, err error) {
		var took int64
		var recipients []byte
		if err := row.Scan(&a.NodeID, &recipients, db.At(&a.At), &took, &a.Status, &a.Answer, &a.Error); err != nil {
			return a, err
		}
		a.Seconds = (time.Duration(took) * time.Microsecond).Seconds()
		err = json.Unmarshal(recipients, &a.Recipients)
		return a, err
	}, `SELECT node_id, recipients, at, took, status, answer, error FROM relay_attempts WHERE message_id = $1 ORDER BY number`, id)
}

// Look returns a message's bytes as they are sent, and records who looked.
func (q *Queue) Look(ctx context.Context, id int64) ([]byte, error) {
	j := &job{id: id}
	err := q.db.Write(ctx, func(tx *db.Tx) error {
		into := []any{&j.trace, db.At(&j.queuedAt), &j.size, &j.parts, &j.body}
		if err := tx.FindOne(ctx, "reading a message", noMessage(id), into,
			`SELECT trace, queued_at, size, parts, body FROM relay_messages WHERE id = $1`, id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, mailqueue.AuditEntry(ctx, "look", "message", strconv.FormatInt(id, 10)))
	})
	if err != nil {
		return nil, err
	}
	whole, err := q.read(ctx, j)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, noMessage(id)
	case err != nil:
		return nil, fmt.Errorf("reading the body of message %d: %w", id, err)
	}
	return whole, nil
}

// read returns the whole message as it is sent.
func (q *Queue) read(ctx context.Context, j *job) ([]byte, error) {
	whole := []byte(j.received())
	if j.parts == 0 {
		return q.codec.dec.DecodeAll(j.body, whole)
	}
	r, err := q.content(ctx, j)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	buf := bytes.NewBuffer(whole)
	_, err = io.Copy(buf, r)
	return buf.Bytes(), err
}

// received is the line that the relay puts before the message: the only change
// it makes.
func (j *job) received() string {
	return strings.Join([]string{j.trace, "id", strconv.FormatInt(j.id, 10) + ";\r\n\t" + j.queuedAt.UTC().Format(time.RFC1123Z) + "\r\n"},
		" ")
}
