package relay

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// slice is how many messages one transaction of an operation on whole queues
// changes: about 20 ms.
const slice = 200

// leaseName is the lease under which a node's queue is sent, by that node; its
// messages are given to another node under it too.
func leaseName(node string) string { return "mail/" + node }

// Resend puts the recipients that failed back into the queue, due now.
func (q *Queue) Resend(ctx context.Context, id int64) error {
	err := q.db.Write(ctx, func(tx *db.Tx) error {
		m, err := lock(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case m == nil:
			return noMessage(id)
		case m.was.ErrorSize == 0:
			return fault.New(fault.Conflict, "Message %d is not in the error queue: it waits to be sent.", id)
		}
		if err := q.resendFailed(ctx, tx, []*message{m}, mailqueue.MessageFilter{}); err != nil {
			return err
		}
		return audit.Record(ctx, tx, mailqueue.AuditEntry(ctx, "resend", "message", strconv.FormatInt(id, 10)))
	})
	if err == nil {
		q.out.queueChanged()
	}
	return err
}

// Delete removes a message, for all of its recipients. One that this node is
// sending at this moment can no longer be called back; on another node, that
// is so for a second.
func (q *Queue) Delete(ctx context.Context, id int64) error {
	err := q.db.Write(ctx, func(tx *db.Tx) error {
		gone := make(tallies)
		if found, err := gone.removeByID(ctx, tx, id); err != nil {
			return err
		} else if !found {
			return noMessage(id)
		}
		if err := gone.notify(ctx, tx); err != nil {
			return err
		}
		if err := gone.count(ctx, tx, q); err != nil {
			return err
		}
		return audit.Record(ctx, tx, mailqueue.AuditEntry(ctx, "delete", "message", strconv.FormatInt(id, 10)))
	})
	if err == nil {
		q.out.forget(id)
	}
	return err
}

// SetPaused pauses the sending of a node's queue, or of all, or has it go on:
// on this node at once, on another within a second.
func (q *Queue) SetPaused(ctx context.Context, node string, paused bool) error {
	action := "resume"
	if paused {
		action = "pause"
	}
	var changes map[string]int64
	err := q.db.Write(ctx, func(tx *db.Tx) (err error) {
		if changes, err = setPaused(ctx, tx, node, paused); err != nil {
			return fmt.Errorf("%s sending: %w", action, err)
		}
		if len(changes) == 0 {
			return fault.New(fault.NotFound, "The node %s has no mail queue.", node)
		}
		return audit.Record(ctx, tx, mailqueue.AuditEntry(ctx, action, "mail queue", node))
	})
	if err != nil {
		return err
	}
	if change, mine := changes[q.o.NodeID]; mine {
		q.out.pause(paused, change)
	}
	q.out.queueChanged()
	return nil
}

func setPaused(ctx context.Context, tx *db.Tx, node string, paused bool) (map[string]int64, error) {
	changes := make(map[string]int64)
	return changes, tx.EachRow(ctx, "changing the mail queues", func(row db.Row) error {
		var id string
		var change int64
		err := row.Scan(&id, &change)
		changes[id] = change
		return err
	}, `UPDATE relay_queues SET paused = $2, changes = changes + 1 WHERE $1 IN ('', node_id) RETURNING node_id, changes`, node, db.Bit(paused))
}

// noteHold shows in lists that sending pauses after failures; a zero time that
// it goes on. nowhere: no smarthost is set.
func (q *Queue) noteHold(ctx context.Context, until time.Time, reason string, nowhere bool) error {
	return q.db.Write(ctx, func(tx *db.Tx) error {
		if err := q.ensure(ctx, tx, q.o.NodeID); err != nil { // it may have been handed over
			return err
		}
		return tx.Do(ctx, "noting that sending pauses",
			`UPDATE relay_queues SET held_until = $2, held_for = $3, no_smarthost = $4 WHERE node_id = $1`,
			q.o.NodeID, db.Micros(until), reason, db.Bit(nowhere))
	})
}

// Remove deletes messages with all that belongs to them, and counts them out of
// their queues.
func (q *Queue) Remove(ctx context.Context, tx *db.Tx, ids []int64) error {
	gone := make(tallies)
	for _, id := range ids {
		if _, err := gone.removeByID(ctx, tx, id); err != nil {
			return err
		}
	}
	return gone.count(ctx, tx, q)
}
