package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Redeliver puts ended deliveries back into the queue: to where an enabled rule
// of theirs sends now, at their old place; where all of their rules are deleted, to
// the channel itself, if something uses it. What waits already is left alone.
func (s *Store) Redeliver(ctx context.Context, who notify.Actor, ids []int64) (notify.Affected, error) {
	told := func(n notify.Affected) map[string]string {
		return map[string]string{"redelivered": strconv.Itoa(n.Done), "skipped": strconv.Itoa(n.Skipped)}
	}
	return s.inSlices(ctx, who, "redeliver", ids, told, func(tx *db.Tx, slice []int64) (notify.Affected, error) {
		return s.redeliver(ctx, tx, slice)
	})
}

// inSlices does something to deliveries, some in each transaction, and records it as one
// action. told is what the audit trail keeps of it.
func (s *Store) inSlices(ctx context.Context, who notify.Actor, action string, ids []int64, told func(notify.Affected) map[string]string,
	do func(tx *db.Tx, slice []int64) (notify.Affected, error)) (done notify.Affected, err error) {
	var entry audit.Many
	for slice := range slices.Chunk(ids, cancelSlice) {
		sum := done
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
			n, err := do(tx, slice)
			sum = notify.Affected{Done: done.Done + n.Done, ToChannel: done.ToChannel + n.ToChannel, Skipped: done.Skipped + n.Skipped}
			if err != nil || sum.Done == 0 {
				return err
			}
			return entry.Record(ctx, tx, who.AuditEntry(action, "delivery", idRange(ids), nil, told(sum)))
		})
		if err != nil {
			return done, err
		}
		done = sum
	}
	return done, nil
}

// idRange names deliveries for the audit trail.
func idRange(ids []int64) string {
	first, last := slices.Min(ids), slices.Max(ids)
	if first == last {
		return strconv.FormatInt(first, 10)
	}
	return fmt.Sprintf("%d…%d", first, last)
}

// WouldRedeliver says what Redeliver would do.
func (s *Store) WouldRedeliver(ctx context.Context, ids []int64) (n notify.Affected, err error) {
	for slice := range slices.Chunk(ids, cancelSlice) {
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			ended, _, err := readEnded(ctx, tx, slice)
			for i := range ended {
				ended[i].count(&n, 1)
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// endedDelivery is a delivery that is to be sent again.
type endedDelivery struct {
	*notify.Delivery
	to        notify.Destination // zero where no enabled rule takes it
	toChannel bool               // to the channel itself
}

// count adds n deliveries of this kind to what is redelivered.
func (d *endedDelivery) count(sum *notify.Affected, n int) {
	switch {
	case d.to.ChannelID == 0:
		sum.Skipped += n
	case d.toChannel:
		sum.ToChannel += n
		fallthrough
	default:
		sum.Done += n
	}
}

func (s *Store) redeliver(ctx context.Context, tx *db.Tx, ids []int64) (done notify.Affected, err error) {
	if err := shareGeneration(ctx, tx); err != nil { // where rules send, see readTargets
		return done, err
	}
	ended, rules, err := readEnded(ctx, tx, ids)
	if err != nil || len(ended) == 0 {
		return done, err
	}
	var back, attempts [][]any
	var queued []*endedDelivery
	var waiting []*notify.Delivery
	channels := make(map[int64]bool)
	for i := range ended {
		d := &ended[i]
		d.count(&done, 1)
		if d.to.ChannelID == 0 {
			continue
		}
		queued, waiting = append(queued, d), append(waiting, d.Delivery)
		back = append(back, []any{d.to.ChannelID, string(d.to.Format), db.Micros(tx.Now()), db.Bit(d.toChannel), d.ID})
		channels[d.to.ChannelID] = true
		if d.State == notify.Delivered { // its place in the row is for the next one
			attempts = append(attempts, attemptRow(d.ID, d.Attempts, d.Last, notify.Exchange{Format: d.Format, Batch: d.Batch}))
		}
	}
	if err := keepAttempts(ctx, tx, attempts); err != nil {
		return done, err
	}
	missed, err := tx.ExecEach(ctx, `UPDATE notify_deliveries SET state = 'waiting', reason = '', inside = '',
		channel_id = $1, format = $2, queued_at = $3, to_channel = $4,
		due_at = 0, beside = 0, batch = 0, held_until = 0, errors_5xx = 0,
		finished_at = 0, took = 0, status = 0, answer = '', public = 0
		WHERE id = $5 AND finished_at > 0`, back)
	if err != nil {
		return done, fmt.Errorf("putting deliveries back: %w", err)
	}
	for _, i := range missed {
		queued[i].count(&done, -1)
	}
	tx.AfterCommit(func() {
		s.counts.match(done.Done)
		for id := range channels {
			s.moved(id)
		}
	})
	return done, s.partWaiting(ctx, tx, waiting, rules)
}

// readEnded reads those of the deliveries that have ended, where each would go, and
// where their rules send.
func readEnded(ctx context.Context, tx *db.Tx, ids []int64) ([]endedDelivery, map[int64]notify.RuleTarget, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	of, err := readDeliveries(ctx, tx, `SELECT `+deliveryColumns+`, NULL FROM notify_deliveries d
		WHERE d.finished_at > 0 AND d.id IN (`+list(ids)+`)`)
	of = slices.DeleteFunc(of, func(d *notify.Delivery) bool { return len(d.Rules) == 0 })
	if err != nil || len(of) == 0 {
		return nil, nil, err
	}
	rules, err := readTargets(ctx, tx, of)
	if err != nil {
		return nil, nil, err
	}
	found := make([]endedDelivery, len(of))
	for i, d := range of {
		found[i] = endedDelivery{Delivery: d, to: d.Reroute(rules)}
		if !slices.ContainsFunc(d.Rules, func(id int64) bool { _, there := rules[id]; return there }) {
			found[i].to, found[i].toChannel = d.Destination(), true
		}
	}
	return found, rules, keepUsed(ctx, tx, found)
}

// keepUsed leaves those of the deliveries for channels themselves of which something
// uses the channel: others have no URL any more.
func keepUsed(ctx context.Context, tx *db.Tx, ended []endedDelivery) error {
	var channels []int64
	for i := range ended {
		if ended[i].toChannel {
			channels = append(channels, ended[i].ChannelID)
		}
	}
	if len(channels) == 0 {
		return nil
	}
	used, err := readIDs(ctx, tx, `SELECT c.id FROM notify_channels c WHERE c.id IN (`+list(channels)+`) AND `+channelThere)
	for i := range ended {
		if d := &ended[i]; d.toChannel && !slices.Contains(used, d.ChannelID) {
			d.to, d.toChannel = notify.Destination{}, false
		}
	}
	return err
}

// Cancel ends waiting deliveries. One that is under way may still arrive, and is then delivered.
func (s *Store) Cancel(ctx context.Context, who notify.Actor, ids []int64) (notify.Affected, error) {
	told := func(n notify.Affected) map[string]string { return map[string]string{"cancelled": strconv.Itoa(n.Done)} }
	return s.inSlices(ctx, who, "cancel", ids, told, func(tx *db.Tx, slice []int64) (notify.Affected, error) {
		ended, err := s.end(ctx, tx, slice, notify.Cancelled, "Cancelled by "+who.Name+".")
		if err != nil || ended == 0 {
			return notify.Affected{}, err
		}
		// Now that they are ended they move no more.
		channels, err := readIDs(ctx, tx, `SELECT DISTINCT channel_id FROM notify_deliveries WHERE id IN (`+list(slice)+`)`)
		tx.AfterCommit(func() {
			for _, id := range channels {
				s.moved(id)
			}
		})
		return notify.Affected{Done: ended}, err
	})
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
		if err := tx.Do(ctx, "ending the quiet hours of a delivery",
			`UPDATE notify_deliveries SET held_until = 0 WHERE id = $1 AND held_until > $2`, id, db.Micros(tx.Now())); err != nil {
			return err
		}
		if err := s.openChannel(ctx, tx, channels[0]); err != nil {
			return err
		}
		return audit.Record(ctx, tx, who.AuditEntry("try", "delivery", strconv.FormatInt(id, 10), nil, nil))
	})
}
