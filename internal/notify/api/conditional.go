package api

import (
	"fmt"
	"net/http"
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
func (a *API) unchanged(r *http.Request, draft *notify.Rule) error {
	if !rest.Conditional(r) {
		return nil
	}
	if draft.ID == 0 {
		return rest.IfMatch(r, "", "") // there is none yet
	}
	info, err := a.Rules.Get(r.Context(), draft.ID)
	if err != nil {
		return err
	}
	hold(r, &draft.Version, info.Version)
	saved := lastSave(info.Version, info.UpdatedBy, info.UpdatedAt)
	if named := rest.MatchedVersion(r, info.ID); named != 0 && named < info.Version {
		since, err := a.Rules.Store.RuleVersionsSince(r.Context(), &info.Rule, named)
		if err != nil {
			return err
		}
		saved = notify.SavesSince(since, &info)
	}
	return rest.IfMatch(r, etagOf(&info), saved)
}

// refused is the answer to a change of a rule that failed with err.
func (a *API) refused(r *http.Request, id int64, err error) error {
	return refused(r, err, func() error { return a.unchanged(r, &notify.Rule{ID: id}) })
}

// reportETag names a version of a report.
func reportETag(info *notify.ReportInfo) string { return rest.ETag(info.ID, info.Version) }

// unchangedReport is unchanged for reports.
func (a *API) unchangedReport(r *http.Request, draft *notify.Report) error {
	if !rest.Conditional(r) {
		return nil
	}
	if draft.ID == 0 {
		return rest.IfMatch(r, "", "") // there is none yet
	}
	info, err := a.Reports.Get(r.Context(), draft.ID)
	if err != nil {
		return err
	}
	hold(r, &draft.Version, info.Version)
	saved, err := a.Reports.Store.ReportSavesSince(r.Context(), &info, rest.MatchedVersion(r, info.ID))
	if err != nil {
		return err
	}
	return rest.IfMatch(r, reportETag(&info), saved)
}

// refusedReport is the answer to a change of a report that failed with err.
func (a *API) refusedReport(r *http.Request, id int64, err error) error {
	return refused(r, err, func() error { return a.unchangedReport(r, &notify.Report{ID: id}) })
}

// connectionETag names a version of a connection. Its name may have been another
// one's before, so the time at which it was made is its id.
func connectionETag(c *notify.Connection) string {
	return rest.ETag(c.CreatedAt.UnixMicro(), c.Version)
}

// unchangedConnection is unchanged for connections. One of the file has no version;
// to change it is refused anyway.
func (a *API) unchangedConnection(r *http.Request, draft *notify.Connection) error {
	if !rest.Conditional(r) {
		return nil
	}
	c, err := a.Hooks.Connection(r.Context(), draft.Name)
	if err != nil || c.File {
		return err
	}
	hold(r, &draft.Version, c.Version)
	saved, err := a.Hooks.Store.ConnectionSavesSince(r.Context(), c, rest.MatchedVersion(r, c.CreatedAt.UnixMicro()))
	if err != nil {
		return err
	}
	return rest.IfMatch(r, connectionETag(c), saved)
}

// refusedConnection is the answer to a change of a connection that failed with err.
func (a *API) refusedConnection(r *http.Request, name string, err error) error {
	return refused(r, err, func() error { return a.unchangedConnection(r, &notify.Connection{Name: name}) })
}

// hold has a change be of the present version, unless the body names one or the
// request takes any.
func hold(r *http.Request, version *int64, present int64) {
	if *version == 0 && !rest.MatchesAny(r) {
		*version = present
	}
}

// refused is 412 where the change failed because the thing was changed since
// unchanged looked at it, else err.
func refused(r *http.Request, err error, unchanged func() error) error {
	if rest.Conditional(r) && fault.Is(err, fault.Conflict) {
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
