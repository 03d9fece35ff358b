package store

import (
	"context"
	"fmt"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Redeliver puts ended deliveries back into the queue: to where an enabled rule
// of theirs sends now, at their old place. What waits already is left alone.
func (s *Store) Redeliver(ctx context.Context, who notify.Actor, ids []int64) (notify.Redelivered, error) {
	var done notify.Redelivered
	for len(ids) > 0 {
		slice := ids[:min(len(ids), cancelSlice)]
		ids = ids[len(slice):]
		var n notify.Redelivered
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) (err error) {
			n, err = s.redeliver(ctx, tx, slice)
			if err != nil || n.Queued == 0 {
				return err
			}
			return audit.Record(ctx, tx, who.AuditEntry("redeliver", "delivery", idRange(slice), nil, map[string]string{
				"redelivered": strconv.Itoa(n.Queued), "skipped": strconv.Itoa(n.Skipped),
			}))
		})
		if err != nil {
			return done, err
		}
		done.Queued += n.Queued
		done.Skipped += n.Skipped
	}
	return done, nil
}

// idRange names deliveries for the audit trail.
func idRange(ids []int64) string {
	first := strconv.FormatInt(ids[0], 10)
	if len(ids) == 1 {
		return first
	}
	return first + "…" + strconv.FormatInt(ids[len(ids)-1], 10)
}

// endedDelivery is a delivery that is to be sent again.
type endedDelivery struct {
	waitingDelivery
	channel  int64
	attempts int
	finished int64
	took     int64
	status   int
	answer   string
	state    notify.DeliveryState
}

func (s *Store) redeliver(ctx context.Context, tx *db.Tx, ids []int64) (done notify.Redelivered, err error) {
	if err := shareGeneration(ctx, tx); err != nil { // where rules send, see readTargets
		return done, err
	}
	ended, err := readEnded(ctx, tx, ids)
	if err != nil || len(ended) == 0 {
		return done, err
	}
	of := make([]waitingDelivery, len(ended))
	for i := range ended {
		of[i] = ended[i].waitingDelivery
	}
	rules, err := readTargets(ctx, tx, of)
	if err != nil {
		return done, err
	}
	var back, attempts [][]any
	channels := make(map[int64]bool)
	for i := range ended {
		d := &ended[i]
		to := notify.Reroute(d.rules, rules, notify.Destination{ChannelID: d.channel, Format: d.format})
		if to.ChannelID == 0 {
			done.Skipped++
			continue
		}
		back = append(back, []any{to.ChannelID, string(to.Format), db.Micros(tx.Now()), d.id})
		channels[to.ChannelID] = true
		if d.state == notify.Delivered { // its place in the row is for the next one
			attempts = append(attempts, []any{d.id, d.attempts, d.finished - d.took, d.took, d.status, d.answer})
		}
	}
	if err := tx.Each(ctx, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
		VALUES ($1, $2, $3, $4, $5, $6, '') ON CONFLICT DO NOTHING`, attempts, nil); err != nil {
		return done, fmt.Errorf("keeping the attempts that delivered: %w", err)
	}
	missed, err := tx.ExecEach(ctx, `UPDATE notify_deliveries SET state = 'waiting', reason = '', channel_id = $1, format = $2, queued_at = $3,
		due_at = 0, beside = 0, batch = 0, held_until = 0, errors_5xx = 0, finished_at = 0, took = 0, status = 0, answer = ''
		WHERE id = $4 AND finished_at > 0`, back)
	if err != nil {
		return done, fmt.Errorf("putting deliveries back: %w", err)
	}
	done.Queued = len(back) - len(missed)
	tx.AfterCommit(func() {
		s.counts.match(done.Queued)
		for id := range channels {
			s.moved(id)
		}
	})
	return done, nil
}

func readEnded(ctx context.Context, tx *db.Tx, ids []int64) ([]endedDelivery, error) {
	rows, err := tx.Query(ctx, `SELECT id, channel_id, format, rules, state, attempts, finished_at, took, status, answer
		FROM notify_deliveries WHERE finished_at > 0 AND id IN (`+list(ids)+`)`)
	if err != nil {
		return nil, fmt.Errorf("reading ended deliveries: %w", err)
	}
	defer rows.Close()
	var found []endedDelivery
	for rows.Next() {
		var d endedDelivery
		var encoded string
		if err := rows.Scan(&d.id, &d.channel, &d.format, &encoded, &d.state, &d.attempts, &d.finished, &d.took, &d.status, &d.answer); err != nil {
			return nil, fmt.Errorf("reading ended deliveries: %w", err)
		}
		if d.rules = decodeIDs(encoded); len(d.rules) > 0 {
			found = append(found, d)
		}
	}
	return found, rows.Err()
}

// Cancel ends waiting deliveries and gives how many those were. One that is under way may still arrive, and is then delivered.
func (s *Store) Cancel(ctx context.Context, who notify.Actor, ids []int64) (n int, err error) {
	for len(ids) > 0 {
		slice := ids[:min(len(ids), cancelSlice)]
		ids = ids[len(slice):]
		var ended int
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
			var err error
			if ended, err = s.end(ctx, tx, slice, notify.Cancelled, "Cancelled by "+who.Name+"."); err != nil || ended == 0 {
				return err
			}
			// Now that they are ended they move no more.
			channels, err := readIDs(ctx, tx, `SELECT DISTINCT channel_id FROM notify_deliveries WHERE id IN (`+list(slice)+`)`)
			if err != nil {
				return err
			}
			tx.AfterCommit(func() {
				for _, id := range channels {
					s.moved(id)
				}
			})
			return audit.Record(ctx, tx, who.AuditEntry("cancel", "delivery", idRange(slice), nil, map[string]string{"cancelled": strconv.Itoa(ended)}))
		})
		if err != nil {
			return n, err
		}
		n += ended
	}
	return n, nil
}

// TryNow has a waiting delivery tried at once, and what waits in front of it on
// its channel, but for what quiet hours hold: fault.Conflict where it does not
// wait.
func (s *Store) TryNow(ctx context.Context, who notify.Actor, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		channels, err := readIDs(ctx, tx, `SELECT channel_id FROM notify_deliveries WHERE id = $1 AND finished_at = 0`, id)
		if err != nil {
			return err
		}
		if len(channels) == 0 {
			return fault.New(fault.Conflict, "Delivery %d is no longer waiting.", id)
		}
		if _, err := tx.Exec(ctx, `UPDATE notify_deliveries SET held_until = 0 WHERE id = $1 AND held_until > $2`, id, db.Micros(tx.Now())); err != nil {
			return fmt.Errorf("ending the quiet hours of a delivery: %w", err)
		}
		if err := s.openChannel(ctx, tx, channels[0]); err != nil {
			return err
		}
		return audit.Record(ctx, tx, who.AuditEntry("try", "delivery", strconv.FormatInt(id, 10), nil, nil))
	})
}
