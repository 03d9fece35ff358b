package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// reportAgain is what Retry-After says while a report is made: a million mappings
// take a few seconds.
const reportAgain = 2 * time.Second

// report answers the id mappings of a cloud site: 202 with nothing in it until
// they are together, then CSV. It takes no part in content negotiation, as the
// host's own does not.
func (a *Source) report(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	cloudSite := q.Get("cloudSiteUrl")
	if cloudSite == "" {
		return threads.ErrSiteURL()
	}
	siteURL, ok := threads.SiteURL(cloudSite)
	if !ok {
		return errNoScope(cloudSite)
	}
	report, ordered, err := a.Store.Ask(r.Context(), siteURL, strings.EqualFold(q.Get("invalidateCache"), "true"), a.Reports.HasRemote())
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
