package store

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// SaveResult commits what an attempt led to: the delivery, the attempt and the
// channel's new standing. fault.Conflict: the shard has gone to another node,
// and nothing was written.
func (s *Store) SaveResult(ctx context.Context, r *notify.Result) error { return s.results.Do(ctx, r) }

// writeResults is the hot write of results.
func (s *Store) writeResults(ctx context.Context, tx *db.Tx, items []*notify.Result) error {
	if err := fenced(ctx, tx, items); err != nil {
		return err
	}
	if err := s.reloadNewerRules(ctx, tx); err != nil {
		return err
	}
	if err := s.outdate(ctx, tx, items); err != nil {
		return err
	}
	for _, r := range items {
		if r.Channel != nil {
			if err := updateChannel(ctx, tx, r.Channel); err != nil {
				return err
			}
		}
		if r.Back != 0 {
			if err := requeue(ctx, tx, r.Deliveries[0].ChannelID, r.Back); err != nil {
				return err
			}
		}
	}
	return s.writeAttempts(ctx, tx, items)
}

// outdate leaves of results what holds where the webhook URL that answered was replaced
// meanwhile. A 2xx that changes nothing of its channel is not asked about.
func (s *Store) outdate(ctx context.Context, tx *db.Tx, items []*notify.Result) error {
	for _, r := range items {
		if r.Fingerprint == "" || r.State == notify.Delivered && r.Channel == nil {
			continue
		}
		id := r.Deliveries[0].ChannelID
		// Locked, because it may be replaced just now.
		found, err := readIDs(ctx, tx, `SELECT id FROM notify_channels WHERE id = $1 AND fingerprint = $2`+tx.ForUpdate(), id, r.Fingerprint)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			r.Outdate()
			tx.AfterCommit(func() { s.moved(id) })
		}
	}
	return nil
}

// fenced is fault.Conflict unless the shard of every result is still held as it
// was when the result came about.
func fenced(ctx context.Context, tx *db.Tx, items []*notify.Result) error {
	fences := make(map[string]int64, min(len(items), notify.Shards))
	for _, r := range items {
		if fence, ok := fences[r.Lease]; ok && fence != r.Fence { // another node held it in between
			return fault.New(fault.Conflict, "Another node has taken over %s.", r.Lease)
		}
		fences[r.Lease] = r.Fence
	}
	return tx.FencedAll(ctx, fences)
}

// reloadNewerRules loads the rules where another node saved some before this
// commit: after a change there, a channel here sends one message at most by
// the rules of before.
func (s *Store) reloadNewerRules(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect() == db.SQLite {
		return nil // every save is this process's own
	}
	generation, _, err := readGeneration(ctx, tx)
	if err == nil && generation != s.Rules().Generation {
		tx.AfterCommit(func() { s.reload(ctx) })
	}
	return err
}

func (s *Store) writeAttempts(ctx context.Context, tx *db.Tx, items []*notify.Result) error {
	results := make([][]any, 0, len(items))
	var attempts, surplus, asides [][]any
	for _, r := range items {
		var last work.Attempt
		if r.Attempt != nil && r.State == notify.Delivered {
			last = *r.Attempt
		}
		for _, d := range r.Deliveries {
			number, errors5xx := r.Counters(d)
			if a := r.Attempt; a != nil && r.State != notify.Delivered {
				attempts = append(attempts, attemptRow(d.ID, number, a, exchangeOf(r, d)))
			}
			if number > notify.FirstAttempts+notify.LastAttempts {
				surplus = append(surplus, []any{d.ID, notify.FirstAttempts, number - notify.LastAttempts})
			}
			results = append(results, []any{
				string(r.State), clean(r.Reason), number, errors5xx, finishedAt(r.State, tx.Now()), last.Took.Microseconds(), last.Status,
				last.Answer, clean(r.Inside), db.Bit(last.Public), d.ID, d.ChannelID,
			})
			if r.Aside || r.State != notify.Waiting && !d.DueAt.IsZero() {
				asides = append(asides, asideRow(r, d))
			}
		}
	}
	// Those that end are no longer aside; a row that is not waiting any more
	// has no due_at already.
	if err := tx.Each(ctx, "keeping what is aside", `UPDATE notify_deliveries SET due_at = $1, beside = $2
		WHERE id = $3 AND finished_at = 0 AND channel_id = $4`, asides, nil); err != nil {
		return err
	}
	if err := s.writeEnds(ctx, tx, items, results); err != nil {
		return err
	}
	if err := keepAttempts(ctx, tx, attempts); err != nil {
		return err
	}
	return tx.Each(ctx, "deleting attempts",
		`DELETE FROM notify_attempts WHERE delivery_id = $1 AND number > $2 AND number <= $3`, surplus, nil)
}

// writeEnds writes what became of the deliveries, and counts what ended.
func (s *Store) writeEnds(ctx context.Context, tx *db.Tx, items []*notify.Result, results [][]any) error {
	missed, err := tx.ExecEach(ctx, `UPDATE notify_deliveries SET state = $1, reason = $2, attempts = $3, errors_5xx = $4, finished_at = $5,
		took = $6, status = $7, answer = $8, inside = $9, public = $10 WHERE id = $11 AND finished_at = 0 AND channel_id = $12`, results)
	if err != nil {
		return fmt.Errorf("keeping results: %w", err)
	}
	ended, runs := make(map[notify.DeliveryState]int, 1), make(map[notify.DeliveryState]int)
	for _, r := range items {
		if r.State != notify.Waiting {
			ended[r.State] += len(r.Deliveries)
			runs[r.State] += countOfReports(r.Deliveries)
		}
	}
	var all []*notify.Delivery // in the order of results
	if len(missed) > 0 {
		for _, r := range items {
			all = append(all, r.Deliveries...)
		}
	}
	again := 0
	for _, i := range missed {
		// A rule's new URL may have taken a delivery to another channel while it
		// was under way, or a user cancelled it: what a result says of it then
		// counts only if that is 2xx.
		switch state := notify.DeliveryState(results[i][0].(string)); state {
		case notify.Waiting:
		case notify.Delivered:
			had, err := s.overtake(ctx, tx, results[i])
			if err != nil {
				return err
			}
			again += had
		default:
			ended[state]--
			runs[state] -= countOfReports(all[i : i+1])
		}
	}
	tx.AfterCommit(func() {
		s.counts.match(again)
		for state, n := range ended {
			s.ended(state, n, runs[state])
		}
	})
	return nil
}

// countOfReports counts the deliveries that activity reports made.
func countOfReports(deliveries []*notify.Delivery) (n int) {
	for _, d := range deliveries {
		if len(notify.ReportIDs(d.Rules)) > 0 {
			n++
		}
	}
	return n
}

// overtake has a delivery be delivered by a result, whatever became of it
// before, and says how often it has been counted as ended. Where it waited since,
// that channel may have it in memory.
func (s *Store) overtake(ctx context.Context, tx *db.Tx, result []any) (before int, err error) {
	var finished, channel int64
	// Locked, because another node may put it back meanwhile.
	found, err := tx.Find(ctx, "reading delivery", []any{&finished, &channel},
		`SELECT finished_at, channel_id FROM notify_deliveries WHERE id = $1`+tx.ForUpdate(), result[10])
	if err != nil {
		return 0, err
	}
	if !found { // ended, and too old to be kept
		return 1, nil
	}
	if finished > 0 {
		before = 1
	} else {
		tx.AfterCommit(func() { s.moved(channel) })
	}
	if err := tx.Do(ctx, "keeping results", `UPDATE notify_deliveries SET state = $1, reason = $2, attempts = $3, errors_5xx = $4,
		finished_at = $5, took = $6, status = $7, answer = $8, inside = $9, public = $10, due_at = 0 WHERE id = $11`,
		result[:11]...); err != nil {
		return 0, err
	}
	return before, nil
}

// asideRow is where a delivery that is set aside stands after the result.
func asideRow(r *notify.Result, d *notify.Delivery) []any {
	var due int64
	if r.Aside && r.State == notify.Waiting {
		due = db.Micros(r.DueAt)
	}
	return []any{due, d.Beside + 1, d.ID, d.ChannelID}
}

func finishedAt(state notify.DeliveryState, now time.Time) int64 {
	if state == notify.Waiting {
		return 0
	}
	return db.Micros(now)
}

// requeue puts a message that was set aside, a digest with all its members,
// back to the head of its channel's queue.
func requeue(ctx context.Context, tx *db.Tx, channel, id int64) error {
	return tx.Do(ctx, "requeuing a delivery", `UPDATE notify_deliveries SET due_at = 0, beside = 0, errors_5xx = 0
		WHERE channel_id = $1 AND due_at > 0 AND finished_at = 0 AND (id = $2 OR batch = $2)`, channel, id)
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
