package relay

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

// oldMessage is a message that has waited for long.
type oldMessage struct {
	id   int64
	left time.Duration // until the first of its recipients that wait is given up
}

// listOld reads some of the messages that came longer ago than giveUp, from
// behind an id on, and the first that did not.
func (q *Queue) listOld(ctx context.Context, after int64, giveUp time.Duration) (list []oldMessage, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		rows, err := tx.Query(ctx, `SELECT id, queued_at, recipients FROM relay_messages
			WHERE node_id = $1 AND waiting > 0 AND id > $2 ORDER BY id LIMIT $3`, q.o.NodeID, after, slice)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var queued int64
			var text []byte
			one := oldMessage{}
			if err := rows.Scan(&one.id, &queued, &text); err != nil {
				return err
			}
			to, err := decodeRecipients(text)
			if err != nil {
				return fmt.Errorf("message %d: %w", one.id, err)
			}
			one.left = to.waitsSince(db.Time(queued)).Add(giveUp).Sub(tx.Now())
			list = append(list, one)
			if tx.Now().Sub(db.Time(queued)) < giveUp {
				break
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading how long messages have waited: %w", err)
	}
	return list, nil
}

// waitsSince is when the first of those that wait began to.
func (list recipients) waitsSince(queued time.Time) time.Time {
	var first time.Time
	for i := range list {
		if r := &list[i]; r.waits() && (first.IsZero() || r.since(queued).Before(first)) {
			first = r.since(queued)
		}
	}
	return first
}

// since is when a recipient of a message that was queued then began to wait.
func (r *recipient) since(queued time.Time) time.Time {
	if r.Since != 0 {
		return db.Time(r.Since)
	}
	return queued
}

// expire gives up those recipients of messages who have waited for too long, and
// returns of how many messages. Their last answer stays; where there was none,
// why says what was in the way. bounces go to the senders, by the message.
func (q *Queue) expire(
	ctx context.Context, lease *db.Lease, ids []int64, giveUp time.Duration, why string, bounces map[int64]*arrival,
) (failed int64, err error) {
	err = q.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		failed = 0
		change := make(tallies)
		for _, id := range ids {
			m, err := lock(ctx, tx, id)
			if err != nil {
				return err
			}
			if m == nil || len(m.recipients.giveUp(m.queuedAt, tx.Now().Add(-giveUp), why)) == 0 {
				continue
			}
			failed += 1 - m.was.ErrorSize
			if err := change.save(ctx, tx, m); err != nil {
				return err
			}
			if bounce := bounces[id]; bounce != nil {
				if err := q.writeArrivals(ctx, tx, []*arrival{bounce}); err != nil {
					return err
				}
			}
		}
		n := failed
		tx.AfterCommit(func() { q.metrics.failed.Add(float64(n)) })
		return change.count(ctx, tx, q)
	}))
	if err != nil {
		return 0, fmt.Errorf("giving up messages: %w", err)
	}
	return failed, nil
}

// giveUp has those fail who have waited since before a time, and lists them.
func (list recipients) giveUp(queued, before time.Time, why string) (failed recipients) {
	for i := range list {
		r := &list[i]
		if !r.waits() || r.since(queued).After(before) {
			continue
		}
		r.State, r.Due = mailqueue.Failed, 0
		r.Answer = cmp.Or(r.Answer, why)
		failed = append(failed, *r)
	}
	return failed
}
