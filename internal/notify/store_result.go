package notify

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
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
	for _, r := range items {
		if r.SetAside != nil {
			if err := finish(ctx, tx, r.SetAside.ID, Failed, SetAsideReason); err != nil {
				return err
			}
		}
		if r.Forgiven != nil {
			if _, err := tx.Exec(ctx, `UPDATE notify_deliveries SET errors_5xx = 0 WHERE id = $1`, r.Forgiven.ID); err != nil {
				return fmt.Errorf("forgive delivery: %w", err)
			}
		}
		if r.Channel != nil {
			if err := updateChannel(ctx, tx, r.Channel); err != nil {
				return err
			}
		}
	}
	if tx.Dialect() == db.Postgres {
		return writeResultsPostgres(ctx, tx, items)
	}
	for _, r := range items {
		d := r.Delivery
		attempts, errors5xx := r.counts()
		if _, err := tx.Exec(ctx, `UPDATE notify_deliveries SET state = $1, reason = $2, attempts = $3, errors_5xx = $4, finished_at = $5
			WHERE id = $6 AND finished_at = 0`,
			string(r.State), r.Reason, attempts, errors5xx, finishedAt(r.State, tx.Now()), d.ID); err != nil {
			return fmt.Errorf("keep result: %w", err)
		}
		if a := r.Attempt; a != nil {
			if _, err := tx.Exec(ctx, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
				VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
				d.ID, attempts, db.Micros(a.At), a.Took.Microseconds(), a.Status, a.Answer, a.Err); err != nil {
				return fmt.Errorf("keep attempt: %w", err)
			}
		}
	}
	return nil
}

func writeResultsPostgres(ctx context.Context, tx *db.Tx, items []*Result) error {
	n := len(items)
	var (
		ids, finished                  = make([]int64, n), make([]int64, n)
		attempts, errors5xx            = make([]int64, n), make([]int64, n)
		states, reasons                = make([]string, n), make([]string, n)
		tried, numbers, ats, took, sts []int64
		answers, errs                  []string
	)
	for i, r := range items {
		a5, e5 := r.counts()
		ids[i], attempts[i], errors5xx[i] = r.Delivery.ID, int64(a5), int64(e5)
		states[i], reasons[i], finished[i] = string(r.State), r.Reason, finishedAt(r.State, tx.Now())
		if a := r.Attempt; a != nil {
			tried, numbers = append(tried, r.Delivery.ID), append(numbers, int64(a5))
			ats, took, sts = append(ats, db.Micros(a.At)), append(took, a.Took.Microseconds()), append(sts, int64(a.Status))
			answers, errs = append(answers, a.Answer), append(errs, a.Err)
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE notify_deliveries d SET state = t.state, reason = t.reason, attempts = t.attempts,
			errors_5xx = t.errors_5xx, finished_at = t.finished_at
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
			AS t (id, state, reason, attempts, errors_5xx, finished_at)
		WHERE d.id = t.id AND d.finished_at = 0`, ids, states, reasons, attempts, errors5xx, finished); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if len(tried) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
		ON CONFLICT DO NOTHING`, tried, numbers, ats, took, sts, answers, errs); err != nil {
		return fmt.Errorf("keep attempts: %w", err)
	}
	return nil
}

// counts are the delivery's counters with this attempt.
func (r *Result) counts() (attempts, errors5xx int) {
	attempts, errors5xx = r.Delivery.Attempts, r.Delivery.Errors5xx
	if r.Attempt != nil {
		attempts++
		if r.Attempt.Status >= 500 {
			errors5xx++
		}
	}
	return attempts, errors5xx
}

func finishedAt(state DeliveryState, now time.Time) int64 {
	if state == Waiting {
		return 0
	}
	return db.Micros(now)
}

func finish(ctx context.Context, tx *db.Tx, id int64, state DeliveryState, reason string) error {
	if _, err := tx.Exec(ctx, `UPDATE notify_deliveries SET state = $1, reason = $2, finished_at = $3 WHERE id = $4 AND finished_at = 0`,
		string(state), reason, db.Micros(tx.Now()), id); err != nil {
		return fmt.Errorf("finish delivery: %w", err)
	}
	return nil
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
