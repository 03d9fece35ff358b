package relay

import (
	"context"
	"fmt"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// Handover moves a node's messages, the error queue's too, to another node and
// says how many. An administrator's pause stays, for when the first one is back.
// It holds the first one's lease meanwhile: Conflict when that still sends.
func (q *Queue) Handover(ctx context.Context, from, to string) (n int64, err error) {
	if from == to {
		return 0, fault.New(fault.Invalid, "Choose another node: these messages already belong to this one.")
	}
	lease, err := q.o.Leases.Acquire(ctx, leaseName(from))
	if err != nil {
		return 0, err
	}
	if lease == nil {
		return 0, fault.New(fault.Conflict, "The node %s is still sending its mail, or was a moment ago. Drain or stop it, and try "+
			"again in %d s.", from, int(db.LeaseTime.Seconds()))
	}
	defer func() {
		if released := q.o.Leases.Release(ctx, lease); err == nil {
			err = released
		}
		q.out.queueChanged()
	}()
	// Those that wait first; then again, since some that failed were perhaps resent meanwhile.
	for _, which := range [...]string{`waiting > 0`, `failed > 0`, `waiting > 0`} {
		for moved := int64(1); moved > 0; n += moved { // of a whole slice some may have been deleted meanwhile
			err = q.db.WriteBulk(ctx, func(tx *db.Tx) (err error) {
				moved, err = q.handOver(ctx, tx, lease, from, to, which)
				return err
			})
			if err != nil {
				return n, fmt.Errorf("handing over the messages of %s to %s, after %d of them: %w", from, to, n, err)
			}
		}
	}
	return n, q.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, fmt.Sprintf("removing the queue of %s", from),
			`DELETE FROM relay_queues WHERE node_id = $1 AND size = 0 AND error_size = 0 AND paused = 0`, from); err != nil {
			return err
		}
		e := mailqueue.AuditEntry(ctx, "hand over", "mail queue", from)
		e.After = map[string]string{"to": to, "messages": strconv.FormatInt(n, 10)}
		return audit.Record(ctx, tx, e)
	})
}

// handOver moves one slice.
func (q *Queue) handOver(ctx context.Context, tx *db.Tx, lease *db.Lease, from, to, which string) (int64, error) {
	if err := tx.Fenced(ctx, lease.Name(), lease.Fence()); err != nil {
		return 0, err
	}
	if err := q.ensure(ctx, tx, to); err != nil {
		return 0, err
	}
	change := make(tallies)
	moved := int64(0)
	err := tx.EachRow(ctx, "moving messages", func(row db.Row) error {
		var waiting, failed int64
		err := row.Scan(&waiting, &failed)
		change.add(from, sizesOf(waiting, failed), -1)
		change.add(to, sizesOf(waiting, failed), 1)
		moved++
		return err
	}, `UPDATE relay_messages SET node_id = $2 WHERE id IN
		(SELECT id FROM relay_messages WHERE node_id = $1 AND `+which+` ORDER BY id LIMIT $3) RETURNING waiting, failed`, from, to, slice)
	if err != nil {
		return 0, err
	}
	if err := changed(ctx, tx, to, `changes = changes + 1`); err != nil {
		return 0, err
	}
	return moved, change.count(ctx, tx, q)
}
