package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// reportAgain is what Retry-After says while a report is made: a million mappings
// take a few seconds.
const reportAgain = 2 * time.Second

// reporting asks for a report. Any other invalidateCache than true is false, as the
// host has it.
type reporting struct {
	CloudSiteURL    string       `query:"cloudSiteUrl" required:"true" example:"https://example.atlassian.net"`
	InvalidateCache bool         `query:"invalidateCache" default:"false" doc:"Whether to generate the report again even if there is one."`
	Wrong           fault.Fields `json:"-"`
}

// MemberWords are those of the parameters that need more than a few.
func (reporting) MemberWords() map[string]string {
	return map[string]string{"cloudSiteUrl": "The cloud site; a slash at its end makes no difference."}
}

func (a *Source) registerReport(r *rest.Router) {
	nothing := rest.None{}
	rest.Serve[reporting, string](r, rest.Route{Method: "GET", Path: ReportPath, Access: rest.SysAdmins, Own: true}, rest.Words{
		ID: "reportIDMappings", Tag: tag, Summary: "Returns the ids that entities got on a cloud site.", Media: []string{"text/csv"},
		Headers: []string{"ETag"},
		Text: "Needs `SYS_ADMIN`. The first call for a site, the first after its mappings changed, and one with " +
			"`invalidateCache=true` have the report made and answer 202; ask again until it is 200. `Accept` does not count. `Range` " +
			"with `If-Range` goes on with a download that broke off.",
		RefusedFor: map[int]string{http.StatusBadRequest: "There is no `cloudSiteUrl`, or no mapping for that site."},
		Answer:     "The report. Its first line is `entityType,serverId,cloudId`; nothing is quoted; each entity comes once.",
		Also: []rest.Success{
			{Status: http.StatusAccepted, Text: "The report is being made. There is no body.", Headers: []string{"Retry-After"}, Of: nothing},
			{Status: http.StatusPartialContent, Text: "The part that `Range` asks for.", Of: nothing},
			{Status: http.StatusNotModified, Text: "The report that `If-None-Match` names.", Of: nothing},
			{Status: http.StatusRequestedRangeNotSatisfiable, Text: "The report is shorter than `Range` says.", Of: nothing},
		},
	}, a.report, []rest.Example[reporting, string]{
		{Name: "short", Out: new(exampleMappings)},
		{Name: "unknown", Err: errNoScope("https://example.atlassian.net")},
	}...)
}

// report answers the id mappings of a cloud site: 202 with nothing in it until
// they are together, then CSV. It takes no part in content negotiation, as the
// host's own does not.
func (a *Source) report(w http.ResponseWriter, r *http.Request, in reporting) error {
	cloudSite := in.CloudSiteURL
	if cloudSite == "" {
		return threads.ErrSiteURL()
	}
	siteURL, ok := threads.SiteURL(cloudSite)
	if !ok {
		return errNoScope(cloudSite)
	}
	report, ordered, err := a.Store.Ask(r.Context(), siteURL, strings.EqualFold(r.URL.Query().Get("invalidateCache"), "true"),
		a.Reports.HasRemote())
	switch {
	case fault.Is(err, fault.NotFound):
		return errNoScope(cloudSite)
	case err != nil:
		return err
	}
	if ordered {
		a.Reports.Wake()
	}
	switch {
	case report.State == threads.ReportMaking:
		w.Header().Set("Retry-After", strconv.Itoa(int(reportAgain/time.Second)))
		w.WriteHeader(http.StatusAccepted)
		return nil
	case report.State == threads.ReportFailed && report.Refused:
		return fault.New(fault.Invalid, "%s", report.Failure)
	case report.State == threads.ReportFailed:
		return &fault.Error{Code: fault.Unavailable, Message: report.Failure, RetryAfter: threads.ReportFailureKept}
	}
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="id-mappings.csv"`)
	h.Set("ETag", fmt.Sprintf(`"%d"`, report.ID)) // a broken download can go on where it was
	http.ServeContent(w, r, "", time.Time{}, a.Store.Text(r.Context(), report))
	return nil
}

// errNoScope is the host's own answer, to the letter.
func errNoScope(cloudSite string) error {
	return fault.New(fault.Invalid, "No migrationScopeId found for the cloudSiteUrl %s", cloudSite)
}
