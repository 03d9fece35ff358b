package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// longestWait is longer than any report waits for its turn, a week and a change
// of the clocks: one that would was given its turn by a clock that was ahead.
const longestWait = 10 * 24 * time.Hour

// DueReports returns the enabled reports that have their turn by now, those that
// wait the longest first, and as many of each platform: a slow one with many
// reports keeps those of others not waiting.
func (s *Store) DueReports(ctx context.Context, now time.Time, limit int) ([]notify.ReportInfo, error) {
	return s.reports(ctx, `r.ask_at > 0 AND (r.ask_at <= $1 OR r.ask_at > $2) AND r.enabled = 1
		ORDER BY row_number() OVER (PARTITION BY r.connection ORDER BY r.ask_at, r.id), r.ask_at, r.id LIMIT $3`,
		db.Micros(now), db.Micros(now.Add(longestWait)), limit)
}

// KeepRun keeps what a turn of a report led to, its run and its delivery in one
// commit, and reports whether it did: not where the report was saved, disabled or
// deleted since it was taken up, nor for a due time that has been run for. What
// still waits of the report is cancelled for the new message. fault.Conflict:
// another node has taken over.
func (s *Store) KeepRun(ctx context.Context, run *notify.ReportRun) (kept bool, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		kept = false
		if err := shareGeneration(ctx, tx); err != nil {
			return err
		}
		if err := tx.Fenced(ctx, run.Lease, run.Fence); err != nil {
			return err
		}
		turned, err := turnReport(ctx, tx, run)
		if err != nil || !turned {
			return err
		}
		if run.Due.IsZero() || !run.Ended() {
			kept = true
			tx.AfterCommit(func() { s.runs.count(run) })
			return nil
		}
		var delivery int64
		if run.Event != nil {
			ids, err := reserveIDs(ctx, tx, "notify_deliveries", 1)
			if err != nil {
				return err
			}
			delivery = ids[0]
		}
		n, err := tx.Changed(ctx, "keeping a run", `INSERT INTO notify_report_runs (report_id, due_at, ended_at, delivery_id, error)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, run.Report.ID, db.Micros(run.Due), db.Micros(tx.Now()), delivery, clean(run.Error))
		if kept = n == 1; err != nil || !kept {
			return err
		}
		tx.AfterCommit(func() { s.runs.count(run) })
		if run.Event == nil {
			return nil
		}
		return s.sendReport(ctx, tx, run, delivery)
	})
	return kept && err == nil, err
}

// turnReport has a report wait for its next turn, and reports whether it did: not
// where the report has changed since the run found it.
func turnReport(ctx context.Context, tx *db.Tx, run *notify.ReportRun) (bool, error) {
	last, failed := run.Report.LastRunAt, run.Report.LastErrorAt
	message := run.Report.LastError
	if run.Ended() {
		last, failed, message = run.At, time.Time{}, run.Error
		if message != "" {
			failed = run.At
		}
	}
	n, err := tx.Changed(ctx, "turning a report", `UPDATE notify_reports SET next_run_at = $1, ask_at = $2, failing_since = $3,
		last_run_at = $4, error = $5, error_at = $6
		WHERE id = $7 AND version = $8 AND next_run_at = $9 AND failing_since = $10 AND enabled = 1`,
		db.Micros(run.Next), db.Micros(run.AskAt), db.Micros(run.FailingSince), db.Micros(last), clean(message), db.Micros(failed),
		run.Report.ID, run.Report.Version, db.Micros(run.Report.NextRunAt), db.Micros(run.Report.RetryingSince))
	return n == 1, err
}

// sendReport puts what a report says into its channel's queue, in the place of
// what still waits there of it.
func (s *Store) sendReport(ctx context.Context, tx *db.Tx, run *notify.ReportRun, id int64) error {
	of := notify.OfReport(run.Report.ID)
	waiting, err := readIDs(ctx, tx, `SELECT id FROM notify_deliveries WHERE rule_id = $1 AND finished_at = 0`, of)
	if err != nil {
		return err
	}
	if _, err := s.end(ctx, tx, waiting, notify.Cancelled, notify.ReplacedReason); err != nil {
		return err
	}
	to := make(map[int64]notify.RuleTarget)
	if err := addReportTargets(ctx, tx, []int64{of}, to); err != nil {
		return err
	}
	d := &notify.Delivery{
		ID: id, ChannelID: to[of].ChannelID, Format: to[of].Format,
		Rules: []int64{of}, State: notify.Waiting, Event: run.Event,
	}
	if d.EventID, err = s.insertReportEvent(ctx, tx, run, id); err != nil {
		return err
	}
	if err := insertDeliveries(ctx, tx, []*notify.Delivery{d}); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.counts.match(1)
		if len(waiting) > 0 {
			s.moved(d.ChannelID)
		}
		s.enqueued([]*notify.Delivery{d})
	})
	return nil
}

// insertReportEvent inserts what a report says, beside the events of webhooks.
func (s *Store) insertReportEvent(ctx context.Context, tx *db.Tx, run *notify.ReportRun, delivery int64) (int64, error) {
	generation, _, err := readGeneration(ctx, tx)
	if err != nil {
		return 0, err
	}
	encoded, err := encodeEvent(run.Event)
	if err != nil {
		return 0, err
	}
	row := &eventRow{
		receipt: run.Receipt(tx.Now(), generation), of: run.Event, needed: 1, delivery: delivery, event: encoded,
	}
	if err := insertEventRows(ctx, tx, []*eventRow{row}); err != nil {
		return 0, err
	}
	return row.id, nil
}

// DeleteReportRuns deletes runs that ended before a time, at most limit of them.
func DeleteReportRuns(ctx context.Context, tx *db.Tx, before time.Time, limit int) (int64, error) {
	return deleteOld(ctx, tx, "old runs", "notify_report_runs", "report_id, due_at", "ended_at", before, limit)
}
