package store

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// SaveReport creates a report (ID 0) or saves one, and gives it back as it is
// now. webhookURL is as for SaveRule. The report is due next after now; a save
// that leaves its schedule as it was leaves also when it is due.
//
// Errors: fault.Invalid for wrong members, fault.NotFound for an unknown id,
// fault.Conflict for a version that is not the present one, and
// where its place has as many as it may have.
func (s *Store) SaveReport(
	ctx context.Context, who notify.Actor, draft notify.Report, webhookURL string, now time.Time,
) (notify.ReportInfo, error) {
	return s.changeReport(ctx, who, draft.ID, func(tx *db.Tx, before *notify.ReportInfo) (*notify.ReportInfo, error) {
		if err := checkReportSave(ctx, tx, &draft, before, webhookURL); err != nil {
			return nil, err
		}
		after := notify.ReportInfo{Report: draft}
		if before != nil {
			after.Version, after.CreatedBy, after.CreatedAt = before.Version, before.CreatedBy, before.CreatedAt
			after.Connection, after.ProjectKey, after.RepositoryKey = before.Connection, before.ProjectKey, before.RepositoryKey
			after.Channel = before.Channel
		} else {
			if err := s.checkConnection(ctx, tx, draft.Connection); err != nil {
				return nil, err
			}
			if err := checkReportRoom(ctx, tx, &draft); err != nil {
				return nil, err
			}
			after.CreatedBy, after.CreatedAt = who.Name, tx.Now()
		}
		to := aim{channel: &after.ChannelID, name: &after.ChannelName, format: &after.Format, choice: draft.Choice, who: who}
		if before != nil {
			to.had = before.ChannelID
		}
		return &after, s.aimAt(ctx, tx, to, webhookURL)
	}, now)
}

// checkReportRoom is fault.Conflict where a repository has as many reports as it
// may have.
func checkReportRoom(ctx context.Context, tx *db.Tx, r *notify.Report) error {
	n, err := countAt(ctx, tx, "notify_reports", r.Connection, r.At())
	if err == nil && n >= notify.MaxReportsAt {
		err = fault.New(fault.Conflict, "%s/%s has %d activity reports, which is the limit. Delete one first.", r.ProjectKey,
			r.RepositoryKey, n)
	}
	return err
}

func checkReportSave(ctx context.Context, tx *db.Tx, draft *notify.Report, before *notify.ReportInfo, webhookURL string) error {
	if before == nil {
		if (webhookURL == "" || secret.IsMask(webhookURL)) && draft.ChannelID == 0 {
			return fault.InvalidField("webhookUrl", "Give the whole webhook URL; a new report has none to keep.")
		}
		return draft.Validate()
	}
	if err := checkReportVersion(ctx, tx, before, draft.Version); err != nil {
		return err
	}
	if err := notify.CheckReportSave(draft, before, webhookURL); err != nil {
		return err
	}
	return draft.Validate()
}

// checkReportVersion is staleVersion of a report.
func checkReportVersion(ctx context.Context, tx *db.Tx, now *notify.ReportInfo, version int64) error {
	return staleVersion(ctx, tx, fmt.Sprint(now.ID), version, now.Present())
}

// EnableReport switches a report on or off and gives it back as it is now. It is
// due next after now. Errors: fault.NotFound when there is none with the id,
// fault.Conflict for a version that is neither 0 nor the present one.
func (s *Store) EnableReport(
	ctx context.Context, who notify.Actor, id, version int64, enabled bool, now time.Time,
) (notify.ReportInfo, error) {
	return s.changeReport(ctx, who, id, func(tx *db.Tx, before *notify.ReportInfo) (*notify.ReportInfo, error) {
		if err := checkReportVersion(ctx, tx, before, version); err != nil || before.Enabled == enabled {
			return nil, err
		}
		after := *before
		after.Enabled = enabled
		return &after, nil
	}, now)
}

// changeReport writes what change makes of a report, which is nil for id 0; where
// change returns nil, nothing.
func (s *Store) changeReport(ctx context.Context, who notify.Actor, id int64,
	change func(tx *db.Tx, before *notify.ReportInfo) (*notify.ReportInfo, error), now time.Time) (saved notify.ReportInfo, err error) {
	err = s.changeRules(ctx, func(tx *db.Tx) error {
		var before *notify.ReportInfo
		action := "create"
		if id != 0 {
			old, err := readReport(ctx, tx, id)
			if err != nil {
				return err
			}
			before, action, saved = &old, "update", old
		}
		after, err := change(tx, before)
		if err != nil || after == nil {
			return err
		}
		after.Version, after.UpdatedBy, after.UpdatedByID, after.UpdatedAt = after.Version+1, who.Name, who.UserID, tx.Now()
		if before == nil {
			after.Version = 1
			err = insertReport(ctx, tx, &after.Report)
		} else {
			err = updateReport(ctx, tx, &after.Report)
		}
		if err != nil {
			return err
		}
		if before == nil || before.ReportSchedule != after.ReportSchedule || before.Enabled != after.Enabled {
			if err := scheduleReport(ctx, tx, &after.Report, now); err != nil {
				return err
			}
		}
		if before != nil && (before.ChannelID != after.ChannelID || before.Format != after.Format || before.Enabled != after.Enabled) {
			if err := s.leaveChannel(ctx, tx, after.ID, before.ChannelID); err != nil {
				return err
			}
		}
		if saved, err = readReport(ctx, tx, after.ID); err != nil {
			return err
		}
		return recordReport(ctx, tx, who, action, before, &saved)
	})
	return saved, err
}

// leaveChannel settles what waits for a report on the channel that it had.
func (s *Store) leaveChannel(ctx context.Context, tx *db.Tx, report, channel int64) error {
	if err := s.dropUnusedURL(ctx, tx, channel); err != nil {
		return err
	}
	return s.reroute(ctx, tx, notify.OfReport(report), channel)
}

// scheduleReport has a report wait for its next due time, with nothing left of
// its last one.
func scheduleReport(ctx context.Context, tx *db.Tx, r *notify.Report, now time.Time) error {
	var next, ask int64
	if r.Enabled {
		next = db.Micros(r.Next(now))
		if ask = next; ask == 0 { // its time zone is not known here: its turn says so
			ask = db.Micros(now)
		}
	}
	return tx.Do(ctx, "scheduling report",
		`UPDATE notify_reports SET next_run_at = $1, ask_at = $2, failing_since = 0, error = '', error_at = 0 WHERE id = $3`,
		next, ask, r.ID)
}

// reportMembers are the columns that every save of a report writes, in the order of
// reportValues.
const reportMembers = `version, name, connection, project_key, repository_key, project_fold, repository_fold,
	channel_id, channel_name, format, inactivity_days, frequency, day, time, time_zone,
	skip_drafts, target_mask, mention_reviewers, enabled, updated_by, updated_by_id, updated_at`

func reportValues(r *notify.Report) []any {
	return []any{r.Version, r.Name, r.Connection, r.ProjectKey, r.RepositoryKey, notify.Fold(r.ProjectKey), notify.Fold(r.RepositoryKey),
		r.ChannelID, r.ChannelName, string(r.Format), r.InactivityDays, string(r.Frequency), r.Day, r.Time, r.TimeZone,
		db.Bit(r.SkipDrafts), r.TargetBranchMask, db.Bit(r.MentionReviewers), db.Bit(r.Enabled), r.UpdatedBy, r.UpdatedByID,
		db.Micros(r.UpdatedAt)}
}

func insertReport(ctx context.Context, tx *db.Tx, r *notify.Report) error {
	values := append(reportValues(r), r.CreatedBy, db.Micros(r.CreatedAt))
	return tx.Get(ctx, "inserting report", []any{&r.ID}, `INSERT INTO notify_reports (`+reportMembers+`, created_by, created_at,
			next_run_at, ask_at, failing_since, last_run_at, error, error_at)
		VALUES (`+parameters(len(values))+`, 0, 0, 0, 0, '', 0) RETURNING id`, values...)
}

func updateReport(ctx context.Context, tx *db.Tx, r *notify.Report) error {
	values := reportValues(r)
	return tx.Do(ctx, "updating report", `UPDATE notify_reports SET (`+reportMembers+`) = (`+parameters(len(values))+`)
		WHERE id = $`+strconv.Itoa(len(values)+1), append(values, r.ID)...)
}

// parameters returns the first n parameters of a statement: "$1, $2, $3".
func parameters(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(list, ", ")
}

// DeleteReport deletes a report: fault.NotFound when there is none. What waits for
// it is cancelled.
func (s *Store) DeleteReport(ctx context.Context, who notify.Actor, id, version int64) error {
	return s.changeRules(ctx, func(tx *db.Tx) error {
		old, err := readReport(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := checkReportVersion(ctx, tx, &old, version); err != nil {
			return err
		}
		if err := tx.DoAll(ctx, "deleting report", []string{
			`DELETE FROM notify_reports WHERE id = $1`, `DELETE FROM notify_report_runs WHERE report_id = $1`,
		}, id); err != nil {
			return err
		}
		if err := s.leaveChannel(ctx, tx, id, old.ChannelID); err != nil {
			return err
		}
		return recordReport(ctx, tx, who, "delete", &old, nil)
	})
}

func recordReport(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.ReportInfo) error {
	of := cmp.Or(after, before)
	e := who.AuditEntry(action, "report", fmt.Sprint(of.ID), before.Audited(), after.Audited())
	e.ObjectName = of.Name
	e.Connection, e.Project, e.Repository = of.Connection, of.ProjectKey, of.RepositoryKey
	return audit.Record(ctx, tx, e)
}
