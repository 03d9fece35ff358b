package api

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// A request with If-Match is held to the version that it names twice: before the
// change, so that it is refused at once, and in the change's own transaction, by the
// version, so that a save in between is kept too.

// etagOf names a version of a rule.
func etagOf(info *notify.RuleInfo) string { return rest.ETag(info.ID, info.Version) }

// unchanged is 412 where a request has an If-Match that the rule is not, and sets the
// draft's version to the present one otherwise.
func (a *API) unchanged(ctx context.Context, match rest.Match, draft *notify.Rule) error {
	if !match.IsGiven() {
		return nil
	}
	if draft.ID == 0 {
		return match.Check("", "") // there is none yet
	}
	info, err := a.Rules.Get(ctx, draft.ID)
	if err != nil {
		return err
	}
	hold(match, &draft.Version, info.Version)
	saved := lastSave(info.Version, info.UpdatedBy, info.UpdatedAt)
	if named := match.Version(info.ID); named != 0 && named < info.Version {
		since, err := a.Rules.Store.RuleVersionsSince(ctx, &info.Rule, named)
		if err != nil {
			return err
		}
		saved = notify.SavesSince(since, &info)
	}
	return match.Check(etagOf(&info), saved)
}

// refused is the answer to a change of a rule that failed with err.
func (a *API) refused(ctx context.Context, match rest.Match, id int64, err error) error {
	return refused(match, err, func() error { return a.unchanged(ctx, match, &notify.Rule{ID: id}) })
}

// reportETag names a version of a report.
func reportETag(info *notify.ReportInfo) string { return rest.ETag(info.ID, info.Version) }

// unchangedReport is unchanged for reports.
func (a *API) unchangedReport(ctx context.Context, match rest.Match, draft *notify.Report) error {
	if !match.IsGiven() {
		return nil
	}
	if draft.ID == 0 {
		return match.Check("", "") // there is none yet
	}
	info, err := a.Reports.Get(ctx, draft.ID)
	if err != nil {
		return err
	}
	hold(match, &draft.Version, info.Version)
	saved, err := a.Reports.Store.ReportSavesSince(ctx, &info, match.Version(info.ID))
	if err != nil {
		return err
	}
	return match.Check(reportETag(&info), saved)
}

// refusedReport is the answer to a change of a report that failed with err.
func (a *API) refusedReport(ctx context.Context, match rest.Match, id int64, err error) error {
	return refused(match, err, func() error { return a.unchangedReport(ctx, match, &notify.Report{ID: id}) })
}

// connectionETag names a version of a connection. Its name may have been another
// one's before, so the time at which it was made is its id.
func connectionETag(c *notify.Connection) string {
	return rest.ETag(c.CreatedAt.UnixMicro(), c.Version)
}

// unchangedConnection is unchanged for connections. One of the file has no version;
// to change it is refused anyway.
func (a *API) unchangedConnection(ctx context.Context, match rest.Match, draft *notify.Connection) error {
	if !match.IsGiven() {
		return nil
	}
	c, err := a.Hooks.Connection(ctx, draft.Name)
	if err != nil || c.File {
		return err
	}
	hold(match, &draft.Version, c.Version)
	saved, err := a.Hooks.Store.ConnectionSavesSince(ctx, c, match.Version(c.CreatedAt.UnixMicro()))
	if err != nil {
		return err
	}
	return match.Check(connectionETag(c), saved)
}

// refusedConnection is the answer to a change of a connection that failed with err.
func (a *API) refusedConnection(ctx context.Context, match rest.Match, name string, err error) error {
	return refused(match, err, func() error {
		if err := a.Hooks.Store.Load(ctx); err != nil { // a change of this moment may be committed and not loaded yet
			return err
		}
		return a.unchangedConnection(ctx, match, &notify.Connection{Name: name})
	})
}

// hold has a change be of the present version, unless the body names one or the
// request takes any.
func hold(match rest.Match, version *int64, present int64) {
	if *version == 0 && !match.Any() {
		*version = present
	}
}

// refused is 412 where the change failed because the thing was changed since
// unchanged looked at it, else err.
func refused(match rest.Match, err error, unchanged func() error) error {
	if match.IsGiven() && fault.Is(err, fault.Conflict) {
		if changed := unchanged(); changed != nil {
			return changed
		}
	}
	return err
}

// lastSave says who made a version, and when.
func lastSave(version int64, by string, at time.Time) string {
	return fmt.Sprintf("%s saved version %d at %s", by, version, at.UTC().Format(time.RFC3339))
}
