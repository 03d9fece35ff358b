package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

const reportColumns = `r.id, r.version, r.name, r.connection, r.project_key, r.repository_key, r.channel_id, r.channel_name, r.format,
	r.inactivity_days, r.frequency, r.day, r.time, r.time_zone, r.skip_drafts, r.target_mask, r.mention_reviewers, r.enabled,
	r.next_run_at, r.failing_since, r.last_run_at, r.error, r.error_at,
	r.created_by, r.created_at, r.updated_by, r.updated_by_id, r.updated_at,
	coalesce(d.id, 0), coalesce(d.state, ''), coalesce(d.reason, ''), coalesce(d.inside, ''), coalesce(d.finished_at, 0)`

// reportTables are the reports with their channels, and the deliveries of their last runs.
const reportTables = `notify_reports r JOIN notify_channels c ON c.id = r.channel_id LEFT JOIN notify_deliveries d
	ON d.id = (SELECT n.delivery_id FROM notify_report_runs n WHERE n.report_id = r.id ORDER BY n.due_at DESC LIMIT 1)`

// ListReports returns the reports of exactly the repository that q names, by name.
func (s *Store) ListReports(ctx context.Context, q notify.ReportQuery) ([]notify.ReportInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.ReportInfo, error) {
		out, err := readReports(ctx, tx, `r.connection = $1 AND r.project_fold = $2 AND r.repository_fold = $3 ORDER BY r.name, r.id`,
			clean(q.Connection), notify.Fold(clean(q.ProjectKey)), notify.Fold(clean(q.RepositoryKey)))
		if err == nil {
			err = countReportsWaiting(ctx, tx, out)
		}
		return out, err
	})
}

// reportConditions are those of all pages.
const reportConditions = `($1 = '' OR r.project_fold = $1) AND ($2 = '' OR r.repository_fold = $2) AND ($3 = '' OR r.connection = $3)
	AND ($4 = '' OR LOWER(r.name) LIKE $5 ESCAPE '\')`

func reportArgs(p *notify.ReportPage) []any {
	return []any{notify.Fold(clean(p.Project)), notify.Fold(clean(p.Repository)), clean(p.Connection), p.Search, containing(clean(p.Search))}
}

// PageReports returns one page of reports.
func (s *Store) PageReports(ctx context.Context, p notify.ReportPage) ([]notify.ReportInfo, error) {
	after := notify.ReportInfo{Report: notify.Report{Name: p.AfterName, ID: p.AfterID}}
	visible := func(r *notify.ReportInfo) bool { return p.Visible(&r.Report) }
	out, err := readVisible(p.Limit, after, visible, func(after *notify.ReportInfo, limit int) ([]notify.ReportInfo, error) {
		return s.reports(ctx, reportConditions+` AND (r.name > $6 OR (r.name = $6 AND r.id > $7)) ORDER BY r.name, r.id LIMIT $8`,
			append(reportArgs(&p), clean(after.Name), after.ID, limit)...)
	})
	if err != nil {
		return nil, err
	}
	return out, s.db.Read(ctx, func(tx *db.Tx) error { return countReportsWaiting(ctx, tx, out) })
}

// FailingReports returns the enabled reports whose last run brought no message, or
// one that failed, the last ones first: of the last 1,000 at most limit that visible lets through.
func (s *Store) FailingReports(ctx context.Context, limit int, visible func(*notify.Report) bool) ([]notify.ReportInfo, error) {
	read, err := s.reports(ctx, `r.enabled = 1 AND (r.error_at > 0 OR d.state = 'failed')
		ORDER BY CASE WHEN r.error_at > 0 THEN r.error_at ELSE d.finished_at END DESC, r.id LIMIT $1`, maxRead)
	return firstOf(read, limit, func(r *notify.ReportInfo) bool { return visible(&r.Report) }), err
}

// Report returns one report: fault.NotFound when there is none with the id.
func (s *Store) Report(ctx context.Context, id int64) (notify.ReportInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (notify.ReportInfo, error) { return readReport(ctx, tx, id) })
}

func readReport(ctx context.Context, tx *db.Tx, id int64) (notify.ReportInfo, error) {
	found, err := readReports(ctx, tx, `r.id = $1`, id)
	if err == nil {
		err = countReportsWaiting(ctx, tx, found)
	}
	return only(found, err, "There is no report with id %d.", id)
}

// reports is readReports in a transaction of its own.
func (s *Store) reports(ctx context.Context, condition string, args ...any) ([]notify.ReportInfo, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]notify.ReportInfo, error) { return readReports(ctx, tx, condition, args...) })
}

// readReports reads the reports that a condition, perhaps with an order and a
// limit behind it, selects.
func readReports(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]notify.ReportInfo, error) {
	return db.List(ctx, tx, "reading reports", scanReport,
		`SELECT `+reportColumns+`, `+channelColumns+` FROM `+reportTables+` WHERE `+condition, args...)
}

func scanReport(row db.Row) (r notify.ReportInfo, err error) {
	last := &r.LastDelivery
	into := []any{&r.ID, &r.Version, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey, &r.ChannelID, &r.ChannelName, &r.Format,
		&r.InactivityDays, &r.Frequency, &r.Day, &r.Time, &r.TimeZone, &r.SkipDrafts, &r.TargetBranchMask, &r.MentionReviewers, &r.Enabled,
		db.At(&r.NextRunAt), db.At(&r.RetryingSince), db.At(&r.LastRunAt), &r.LastError, db.At(&r.LastErrorAt),
		&r.CreatedBy, db.At(&r.CreatedAt), &r.UpdatedBy, &r.UpdatedByID, db.At(&r.UpdatedAt),
		&last.ID, &last.State, &last.Reason, &last.Inside, db.At(&last.EndedAt)}
	err = row.Scan(append(into, channelInto(&r.Channel)...)...)
	return r, err
}

// countReportsWaiting sets how many messages wait on the reports' channels.
func countReportsWaiting(ctx context.Context, tx *db.Tx, reports []notify.ReportInfo) error {
	channels := make([]*notify.Channel, len(reports))
	for i := range reports {
		channels[i] = &reports[i].Channel
	}
	return countChannelsWaiting(ctx, tx, channels, notify.MaxListed)
}

// readReportTargets says where the enabled reports send.
func readReportTargets(ctx context.Context, tx *db.Tx) (notify.ReportTargets, error) {
	targets := make(notify.ReportTargets)
	return targets, tx.EachRow(ctx, "reading where reports send", func(row db.Row) error {
		var id int64
		var format notify.Format
		var host string
		var to notify.ReportTarget
		err := row.Scan(&id, &to.ChannelID, &to.Format, &format, &host, &to.Mentions)
		to.Format = to.Format.Else(format).ResolveFormat(host)
		targets[notify.OfReport(id)] = to
		return err
	}, `SELECT r.id, r.channel_id, r.format, c.format, c.host, r.mention_reviewers
		FROM notify_reports r JOIN notify_channels c ON c.id = r.channel_id WHERE r.enabled = 1`)
}

// addReportTargets adds where the reports among what deliveries are for send.
func addReportTargets(ctx context.Context, tx *db.Tx, rules []int64, to map[int64]notify.RuleTarget) error {
	ids := notify.ReportIDs(rules)
	if len(ids) == 0 {
		return nil
	}
	return tx.EachRow(ctx, "reading where reports send", func(row db.Row) error {
		id, target, err := scanTarget(row)
		to[notify.OfReport(id)] = target
		return err
	}, `SELECT r.id, r.channel_id, r.format, c.format, c.host, r.enabled
		FROM notify_reports r JOIN notify_channels c ON c.id = r.channel_id WHERE r.id IN (`+list(ids)+`)`)
}
