package admin

import (
	"context"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Reports has the operations on activity reports, each with its permission check:
// the REST API and the console both go through it.
type Reports struct {
	Store  *store.Store
	Lister notify.PullRequestLister
	// CheckRepository asks the platform whether there is a repository that reports
	// can read: fault.NotFound where it says no. nil: new reports are not checked.
	CheckRepository func(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) error
	// PullRequests is the address of the page on which the platform lists the open
	// pull requests of a repository; "" where none is known.
	PullRequests func(c *notify.Connection, at notify.RepositoryRef) string
	// CheckURL and CautionURL are as for Rules.
	CheckURL   func(string) error
	CautionURL func(ctx context.Context, url string) string
	Tests      *TestMessages
	// Write makes the message of a test.
	Write func(e *notify.Event, f notify.Format) []byte
	// Zone is the server's time zone, of reports that name none.
	Zone  string
	Clock func() time.Time

	asks   reportAsks // views and tests
	checks reportAsks // of repositories of new reports, bounded likewise
}

// List returns the reports of the repository that q names: fault.Forbidden for who
// does not administer it.
func (s *Reports) List(ctx context.Context, q notify.ReportQuery) ([]notify.ReportInfo, error) {
	of := notify.Report{ProjectKey: q.ProjectKey, RepositoryKey: q.RepositoryKey}
	var wrong fault.Fields
	of.ValidatePlace(&wrong)
	name, err := s.Store.Platforms().Connections.Resolve(q.Connection)
	if err := wrong.Join(err); err != nil {
		return nil, err
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	of.Connection, q.Connection = name, name
	if err := identity.From(ctx).Require(of.Access()); err != nil {
		return nil, err
	}
	list, err := s.Store.ListReports(ctx, q)
	return forReader(ctx, list), err
}

// MayListAll reports whether the caller may list the reports that q means without
// naming a repository: those of a project, or all.
func (s *Reports) MayListAll(ctx context.Context, q notify.ReportQuery) bool {
	who := identity.From(ctx)
	switch {
	case q.RepositoryKey != "":
		return false
	case who.May(identity.Admin, identity.Resource{}):
		return true
	}
	name, err := s.Store.Platforms().Connections.Resolve(q.Connection)
	return err == nil && q.ProjectKey != "" && who.May(identity.ProjectAdmin, identity.Resource{Connection: name, Project: q.ProjectKey})
}

// Page returns one page of the reports that the caller administers. fault.Invalid:
// there is no connection of that name.
func (s *Reports) Page(ctx context.Context, p notify.ReportPage) ([]notify.ReportInfo, error) {
	if p.Connection != "" {
		if _, err := s.Store.Platforms().Connections.Resolve(p.Connection); err != nil {
			return nil, err
		}
	}
	who := identity.From(ctx)
	p.Visible = func(r *notify.Report) bool { return who.May(r.Access()) }
	list, err := s.Store.PageReports(ctx, p)
	return forReader(ctx, list), err
}

// maxFailing is how many reports the overview names.
const maxFailing = 10

// Failing returns the enabled reports whose last run brought no message, as far as
// the caller administers them: the last ones first, at most maxFailing.
func (s *Reports) Failing(ctx context.Context) ([]notify.ReportInfo, error) {
	who := identity.From(ctx)
	list, err := s.Store.FailingReports(ctx, maxFailing, func(r *notify.Report) bool { return who.May(r.Access()) })
	return forReader(ctx, list), err
}

// Connections names the connections that a report can belong to.
func (s *Reports) Connections() []string { return s.Store.Platforms().Connections.Names() }

// Get returns one report: fault.NotFound for a SYS_ADMIN, else fault.Forbidden as
// for a report of others.
func (s *Reports) Get(ctx context.Context, id int64) (notify.ReportInfo, error) {
	info, err := s.Store.Report(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return info, identity.Missing(ctx, "There is no report with id %d.", id)
	}
	if err != nil {
		return info, err
	}
	info.Show(notify.ReadsInside(ctx))
	return info, identity.From(ctx).Require(info.Report.Access())
}

// Save creates a report (ID 0) or saves one; see store.Store for the errors. For a new
// one, it asks the platform whether the repository exists. wrong is what the caller has
// found in the members already: all errors are returned together.
func (s *Reports) Save(ctx context.Context, draft notify.Report, webhookURL string, wrong fault.Fields) (notify.ReportInfo, error) {
	draft, stored, err := s.prepare(ctx, draft, &wrong)
	if err != nil {
		return notify.ReportInfo{}, err
	}
	draft.ChannelID, webhookURL, err = chosen(ctx, s.Store, draft.Choice, &stored.Channel, webhookURL)
	if err := wrong.Join(err); err != nil {
		return notify.ReportInfo{}, err
	}
	if err := wrong.Join(draft.Validate()); err != nil {
		return notify.ReportInfo{}, err
	}
	if err := wrong.Join(checkURL(s.CheckURL, webhookURL, "report", draft.ID, draft.ChannelID)); err != nil {
		return notify.ReportInfo{}, err
	}
	if err := wrong.Err(); err != nil {
		return notify.ReportInfo{}, err
	}
	unchecked := ""
	if draft.ID == 0 {
		if unchecked, err = s.checkRepository(ctx, &draft); err != nil {
			return notify.ReportInfo{}, err
		}
	}
	saved, err := s.Store.SaveReport(ctx, actor(ctx), draft, webhookURL, s.Clock())
	saved.Show(notify.ReadsInside(ctx))
	if err == nil {
		saved.Unchecked = unchecked
		s.Caution(ctx, &saved)
	}
	return saved, err
}

// prepare completes a draft, and fails where the caller may not save it; stored is the
// report that it is of, where it has an id.
func (s *Reports) prepare(
	ctx context.Context, draft notify.Report, wrong *fault.Fields,
) (_ notify.Report, stored notify.ReportInfo, err error) {
	draft = draft.Trimmed()
	if draft.ID == 0 {
		if draft.TimeZone == "" {
			draft.TimeZone = s.Zone
		}
		return draft, stored, s.place(ctx, &draft, wrong)
	}
	if stored, err = s.Get(ctx, draft.ID); err != nil {
		return draft, stored, err
	}
	notify.CheckReportPlace(wrong, &draft, &stored)
	if draft.TimeZone == "" {
		draft.TimeZone = stored.TimeZone
	}
	return draft, stored, nil
}

// place finds where a new report belongs, and fails where the caller may not have one
// there. A place that is wrong in itself is not checked for permission, and is named
// with the other errors.
func (s *Reports) place(ctx context.Context, draft *notify.Report, wrong *fault.Fields) error {
	var here fault.Fields
	name, err := s.Store.Platforms().Connections.Resolve(draft.Connection)
	if err := here.Join(err); err != nil {
		return err
	}
	draft.Connection = name
	*wrong = append(*wrong, here...)
	draft.ValidatePlace(&here)
	if len(here) > 0 || slices.ContainsFunc(*wrong, func(f fault.Field) bool { return slices.Contains(placeFields, f.Name) }) {
		return nil
	}
	return identity.From(ctx).Require(draft.Access())
}

// Caution finds out what is to be said about a report's webhook URL, as for Rules.
func (s *Reports) Caution(ctx context.Context, info *notify.ReportInfo) {
	info.Caution = s.CautionURL(ctx, info.Channel.Mask)
}

// Enable switches a report on or off; the permissions are those of Get. What came due while it
// was off is not caught up on. fault.Conflict: the report is not at the version any
// more; 0 is any.
func (s *Reports) Enable(ctx context.Context, id, version int64, enabled bool) (notify.ReportInfo, error) {
	if info, err := s.Get(ctx, id); err != nil {
		return info, err
	}
	saved, err := s.Store.EnableReport(ctx, actor(ctx), id, version, enabled, s.Clock())
	saved.Show(notify.ReadsInside(ctx))
	return saved, err
}

// Delete deletes a report; the permissions are those of Get, and the version as for Enable.
func (s *Reports) Delete(ctx context.Context, id, version int64) error {
	if _, err := s.Get(ctx, id); err != nil {
		return err
	}
	return s.Store.DeleteReport(ctx, actor(ctx), id, version)
}

// ReportView is what a report says now.
type ReportView struct {
	Report         notify.ReportInfo
	Event          *notify.Event // what its card is made of
	AskedAt        time.Time
	Open, Inactive int
}

// View asks the platform and returns what the report says now; nothing is sent. The
// permissions are those of Get. Errors: fault.RateLimited, and fault.Unavailable where the
// platform does not answer.
func (s *Reports) View(ctx context.Context, id int64) (ReportView, error) {
	info, err := s.Get(ctx, id)
	if err != nil {
		return ReportView{}, err
	}
	return s.view(ctx, &info)
}

// Preview is View of a report as it is typed, saved or not. The permissions are those of
// Save.
func (s *Reports) Preview(ctx context.Context, draft notify.Report) (ReportView, error) {
	var wrong fault.Fields
	draft, stored, err := s.prepare(ctx, draft, &wrong)
	if err != nil {
		return ReportView{}, err
	}
	draft.ValidateContent(&wrong)
	if err := wrong.Err(); err != nil {
		return ReportView{}, err
	}
	stored.Report = draft
	return s.view(ctx, &stored)
}

func (s *Reports) view(ctx context.Context, info *notify.ReportInfo) (ReportView, error) {
	e, err := s.askNow(ctx, &info.Report)
	if err != nil {
		return ReportView{}, err
	}
	return ReportView{Report: *info, Event: e, AskedAt: e.At, Open: e.Report.Open, Inactive: e.Report.Inactive}, nil
}
