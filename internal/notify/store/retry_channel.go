package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// recently is what RetryRecent means.
const recently = 24 * time.Hour

// RetryChannel opens a channel at once, whatever closed it, and cancels the
// waiting messages that which leaves out; they can be redelivered. It gives
// how many those were: fault.NotFound when there is no such channel.
func (s *Store) RetryChannel(ctx context.Context, who notify.Actor, id int64, which notify.RetryMode) (cancelled int, err error) {
	if which != notify.RetryAll {
		cancelled, err = s.cancelWaiting(ctx, id, which)
		if err != nil {
			return cancelled, err
		}
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		before, _, err := s.readChannel(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.openChannel(ctx, tx, id); err != nil {
			return err
		}
		e := who.AuditEntry("retry", "channel", before.UnderID(), map[string]string{
			"state": before.Status(tx.Now()).State, "reason": before.Status(tx.Now()).Reason,
		}, map[string]string{"state": string(notify.Open), "which": string(which), "cancelled": strconv.Itoa(cancelled)})
		if e.ObjectName, err = channelName(ctx, tx, id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, e)
	})
	return cancelled, err
}

// OpenTested opens the channel of a webhook URL that took a test message, where it is
// broken, and cancels the waiting messages that which leaves out. nil: it is not
// broken, or there is none.
func (s *Store) OpenTested(ctx context.Context, who notify.Actor, to secret.Value, which notify.RetryMode) (*notify.Reopened, error) {
	now, err := s.ChannelOfURL(ctx, to)
	if fault.Is(err, fault.NotFound) || err == nil && now.State != notify.Broken {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cancelled, err := s.RetryChannel(ctx, who, now.ID, which)
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE notify_channels SET failing_since = 0, gate_reason = '', gate_inside = '', last_ok_at = $2
			WHERE id = $1 AND state = 'open' AND gate_step + refused + rejected = 0`, now.ID, db.Micros(tx.Now()))
		tx.AfterCommit(func() { s.moved(now.ID) })
		return err
	})
	return &notify.Reopened{Waiting: max(now.Waiting-cancelled, 0), Cancelled: cancelled}, err
}

// openChannel has everything on a channel tried at once. Why it was closed stays
// known until it takes a message.
func (s *Store) openChannel(ctx context.Context, tx *db.Tx, id int64) error {
	if err := tx.Do(ctx, "opening channel",
		`UPDATE notify_channels SET state = 'open', reason = '', inside = '', broken_at = 0, gate_until = 0, gate_step = 0,
		gate_reason = CASE WHEN reason <> '' THEN reason ELSE gate_reason END,
		gate_inside = CASE WHEN reason <> '' THEN inside ELSE gate_inside END, rejected = 0, refused = 0 WHERE id = $1`, id); err != nil {
		return err
	}
	if err := tx.Do(ctx, "trying what was set aside",
		`UPDATE notify_deliveries SET due_at = $1 WHERE channel_id = $2 AND due_at > $1 AND finished_at = 0`,
		db.Micros(tx.Now()), id); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.moved(id) })
	return nil
}

// Why messages were not sent that an administrator left out.
const (
	leftOutOfRetry       = "Left out when the channel was tried again."
	leftOutOfReplacement = "Left out when the webhook URL of the channel was replaced."
)

// cancelSlice is how many deliveries are ended in one transaction: about the
// 20 ms that bulk work may take.
const cancelSlice = 500

// cancelWaiting cancels the waiting messages of a channel that which leaves
// out, the oldest first.
func (s *Store) cancelWaiting(ctx context.Context, channel int64, which notify.RetryMode) (n int, err error) {
	var until time.Time
	for {
		var found, ended int
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
			if until.IsZero() { // what comes later is not left out
				until = leftOutUntil(tx, which)
			}
			var err error
			found, ended, err = s.cancelOlder(ctx, tx, channel, until, leftOutOfRetry)
			return err
		})
		n += ended
		if err != nil || found < cancelSlice {
			if n > 0 {
				s.moved(channel)
			}
			return n, err
		}
	}
}

// leftOutUntil is the time before which waiting messages came that are left out now.
func leftOutUntil(tx *db.Tx, which notify.RetryMode) time.Time {
	if which == notify.RetryRecent {
		return tx.Now().Add(-recently)
	}
	return tx.Now()
}

// cancelOlder cancels up to cancelSlice waiting messages of a channel that came before a
// time, the oldest first, and says how many it found and how many of them still waited.
func (s *Store) cancelOlder(ctx context.Context, tx *db.Tx, channel int64, until time.Time, reason string) (found, ended int, err error) {
	ids, err := lockIDs(ctx, tx, `SELECT id FROM notify_deliveries WHERE channel_id = $1 AND finished_at = 0
		AND created_at < $2 AND queued_at < $2 ORDER BY id LIMIT $3`, channel, db.Micros(until), cancelSlice)
	if err != nil {
		return 0, 0, err
	}
	ended, err = s.end(ctx, tx, ids, notify.Cancelled, reason)
	return len(ids), ended, err
}

// end ends waiting deliveries as cancelled or failed and gives how many of
// them still waited.
func (s *Store) end(ctx context.Context, tx *db.Tx, ids []int64, state notify.DeliveryState, reason string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	if err := s.leaveDeciding(ctx, tx, list(ids)); err != nil {
		return 0, err
	}
	stored := state
	if state == expired {
		stored = notify.Failed
	}
	of, err := readIDs(ctx, tx, `UPDATE notify_deliveries SET state = $1, reason = $2, inside = '', finished_at = $3, due_at = 0
		WHERE finished_at = 0 AND id IN (`+list(ids)+`) RETURNING rule_id`, string(stored), reason, db.Micros(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("ending deliveries: %w", err)
	}
	tx.AfterCommit(func() { s.ended(state, len(of), len(notify.ReportIDs(of))) })
	return len(of), nil
}

// lockIDs is readIDs of rows that stay as they are until the end of tx. Those
// that another node ended, or moved to another channel, meanwhile are not among
// them; others that fit take their place within a LIMIT.
func lockIDs(ctx context.Context, tx *db.Tx, query string, args ...any) ([]int64, error) {
	return readIDs(ctx, tx, query+tx.ForUpdate(), args...)
}

// readIDs runs a query of ids.
func readIDs(ctx context.Context, tx *db.Tx, query string, args ...any) ([]int64, error) {
	return db.List(ctx, tx, "reading ids", db.Value[int64], query, args...)
}

// only returns what was found of what there is at most one of; fault.NotFound in these words
// where that is nothing.
func only[T any](found []T, err error, words string, id int64) (one T, _ error) {
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, words, id)
	}
	if err != nil {
		return one, err
	}
	return found[0], nil
}
