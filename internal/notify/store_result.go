package notify

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/work"
)

// Keep commits what an attempt led to: the delivery, the attempt and the
// channel's new standing. fault.Conflict: the shard has gone to another node,
// and nothing was written.
func (s *Store) Keep(ctx context.Context, r *Result) error { return s.done.Do(ctx, r) }

// writeResults is the hot write of results.
func (s *Store) writeResults(ctx context.Context, tx *db.Tx, items []*Result) error {
	fenced := make(map[string]int64, 1)
	for _, r := range items {
		if fence, ok := fenced[r.Lease]; ok && fence == r.Fence {
			continue
		}
		if err := tx.Fenced(ctx, r.Lease, r.Fence); err != nil {
			return err
		}
		fenced[r.Lease] = r.Fence
	}
	if err := s.lookForRules(ctx, tx); err != nil {
		return err
	}
	for _, r := range items {
		if r.Channel != nil {
			if err := updateChannel(ctx, tx, r.Channel); err != nil {
				return err
			}
		}
		if r.SetAside != nil {
			if err := setAside(ctx, tx, r.SetAside); err != nil {
				return err
			}
		}
	}
	return writeAttempts(ctx, tx, items)
}

// lookForRules has this node go by rules that another one saved before this
// commit: after a change there, a channel here sends one message at most by
// the rules of before.
func (s *Store) lookForRules(ctx context.Context, tx *db.Tx) error {
	if tx.Dialect() == db.SQLite {
		return nil // every save is this process's own
	}
	generation, err := readGeneration(ctx, tx)
	if err == nil && generation != s.Rules().Generation {
		tx.AfterCommit(func() { s.reload(ctx) })
	}
	return err
}

func writeAttempts(ctx context.Context, tx *db.Tx, items []*Result) error {
	results := make([][]any, len(items))
	var attempts [][]any
	for i, r := range items {
		number, errors5xx := r.counts()
		var last work.Attempt
		switch {
		case r.Attempt == nil:
		case r.State == Delivered:
			last = *r.Attempt
		default:
			a := r.Attempt
			attempts = append(attempts, []any{r.Delivery.ID, number, db.Micros(a.At), a.Took.Microseconds(), a.Status, a.Answer, clean(a.Err)})
		}
		results[i] = []any{
			string(r.State), clean(r.Reason), number, errors5xx, finishedAt(r.State, tx.Now()), last.Took.Microseconds(), last.Status,
			last.Answer, r.Delivery.ID, r.Delivery.ChannelID,
		}
	}
	// A rule's new URL may have taken the delivery to another channel while it
	// was under way: what this one says of it counts only if that is 2xx.
	if err := tx.Each(ctx, `UPDATE notify_deliveries SET state = $1, reason = $2, attempts = $3, errors_5xx = $4, finished_at = $5,
		took = $6, status = $7, answer = $8 WHERE id = $9 AND (finished_at = 0 AND channel_id = $10 OR $1 = 'delivered')`, results, nil); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if err := tx.Each(ctx, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`, attempts, nil); err != nil {
		return fmt.Errorf("keep attempts: %w", err)
	}
	return nil
}

// counts are the delivery's counters with this attempt.
func (r *Result) counts() (attempts, errors5xx int) {
	attempts, errors5xx = r.Delivery.Attempts, r.Delivery.Errors5xx
	if r.Attempt != nil {
		attempts++
		if r.CountsAgainst() {
			errors5xx++
		}
	}
	return attempts, errors5xx
}

// CountsAgainst tells whether the attempt was a server error that counts
// against the message.
func (r *Result) CountsAgainst() bool {
	return r.Attempt != nil && r.Attempt.Status >= 500 && !r.Probe
}

func finishedAt(state DeliveryState, now time.Time) int64 {
	if state == Waiting {
		return 0
	}
	return db.Micros(now)
}

func setAside(ctx context.Context, tx *db.Tx, d *Delivery) error {
	if _, err := tx.Exec(ctx, `UPDATE notify_deliveries SET state = $1, reason = $2, finished_at = $3
		WHERE id = $4 AND finished_at = 0 AND channel_id = $5`,
		string(Failed), SetAsideReason, db.Micros(tx.Now()), d.ID, d.ChannelID); err != nil {
		return fmt.Errorf("set delivery aside: %w", err)
	}
	return nil
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
