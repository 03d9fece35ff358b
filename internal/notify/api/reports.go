package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const reportsPath = basePath + "/reports"

func (a *API) registerReports(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: reportsPath, Query: rest.Paged("projectKey", "repositoryKey", "connection", "id")}, a.listReports)
	r.Handle(rest.Route{Method: "POST", Path: reportsPath, Conditional: true}, a.saveReport)
	r.Handle(rest.Route{Method: "DELETE", Path: reportsPath, Conditional: true, Query: []string{"id"}}, a.deleteReport)
	r.Handle(rest.Route{Method: "PUT", Path: reportsPath + "/enabled", Conditional: true, Query: []string{"id", "enabled"}}, a.enableReport)
	r.Handle(rest.Route{Method: "POST", Path: reportsPath + "/test"}, a.testReport)
	r.Handle(rest.Route{Method: "GET", Path: reportsPath + "/{id}/view", Own: true, Query: []string{"format"}}, a.viewReport)
}

// reportJSON is an activity report as the API writes it, and reads it: its
// read-only members may be sent back and are ignored.
type reportJSON struct {
	ID            int64         `json:"id"`
	Version       int64         `json:"version"`
	Name          string        `json:"name"`
	Connection    string        `json:"connection"`
	ProjectKey    string        `json:"projectKey"`
	RepositoryKey string        `json:"repositoryKey"`
	WebhookURL    string        `json:"webhookUrl,omitempty"`
	ChannelName   string        `json:"channelName,omitempty"`
	Channel       string        `json:"channel,omitempty"`
	ChannelState  *RuleChannel  `json:"channelState,omitempty"`
	Format        notify.Format `json:"format"`

	InactivityDays int              `json:"inactivityDays"`
	Frequency      notify.Frequency `json:"frequency"`
	Day            string           `json:"day,omitempty"`
	Time           string           `json:"time"`
	TimeZone       string           `json:"timeZone"`

	SkipDrafts       bool   `json:"skipDrafts,omitempty"`
	TargetBranchMask string `json:"targetBranchMask,omitempty"`
	MentionReviewers bool   `json:"mentionReviewers,omitempty"`

	Enabled   *bool      `json:"enabled"`
	NextRunAt *time.Time `json:"nextRunAt,omitempty"`
	LastRunAt *time.Time `json:"lastRunAt,omitempty"`
	// What became of the last run, and its message; where its channel has none and
	// will have none, why.
	LastOutcome   notify.RunOutcome `json:"lastOutcome,omitempty"`
	LastDelivery  int64             `json:"lastDelivery,omitempty"`
	LastError     string            `json:"lastError,omitempty"`
	LastErrorAt   *time.Time        `json:"lastErrorAt,omitempty"`
	RetryingSince *time.Time        `json:"retryingSince,omitempty"`

	CreatedBy string     `json:"createdBy,omitempty"`
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	UpdatedBy string     `json:"updatedBy,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
	Warnings  []Warning  `json:"warnings,omitempty"`
}

func (a *API) listReports(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Has("id") {
		id, err := queryReportID(r)
		if err != nil {
			return err
		}
		info, err := a.Reports.Get(r.Context(), id)
		if err != nil {
			return err
		}
		return a.writeReport(w, r, http.StatusOK, &info)
	}
	of := notify.ReportQuery{Connection: q.Get("connection"), ProjectKey: q.Get("projectKey"), RepositoryKey: q.Get("repositoryKey")}
	page, wrong := rest.ReadPage(r)
	if a.Reports.MayListAll(r.Context(), of) {
		return a.listAllReports(w, r, of, page, wrong)
	}
	reports, err := a.Reports.List(r.Context(), of)
	if err := fault.Every(wrong, err); err != nil {
		return err
	}
	out := make([]reportJSON, len(reports))
	for i := range reports {
		out[i] = reportOf(&reports[i], a.Clock())
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// listAllReports lists the reports of a project, or of all, in pages. wrong is what
// is wrong with the page asked for.
func (a *API) listAllReports(w http.ResponseWriter, r *http.Request, of notify.ReportQuery, page rest.Page, wrong error) error {
	ask := notify.ReportPage{Connection: of.Connection, Project: of.ProjectKey, Limit: page.Limit + 1}
	if id, name, ok := strings.Cut(page.After, " "); ok {
		var err error
		if ask.AfterID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return rest.ErrAfter()
		}
		ask.AfterName = name
	}
	reports, err := a.Reports.Page(r.Context(), ask)
	if err := fault.Every(wrong, err); err != nil {
		return err
	}
	after := func(info notify.ReportInfo) string { return strconv.FormatInt(info.ID, 10) + " " + info.Name }
	list := rest.NewList(page, reports, after, func(info notify.ReportInfo) reportJSON { return reportOf(&info, a.Clock()) })
	return rest.WriteJSON(w, r, http.StatusOK, list)
}

func (a *API) saveReport(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := readReport(r)
	if err != nil {
		return err
	}
	if err := a.unchangedReport(r.Context(), rest.MatchOf(r), &draft); err != nil {
		return err
	}
	info, err := a.Reports.Save(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return a.refusedReport(r.Context(), rest.MatchOf(r), draft.ID, err)
	}
	status := http.StatusOK
	if draft.ID == 0 {
		status = http.StatusCreated
		w.Header().Set("Location", rest.Link(r.Context(), reportsPath+"?id="+strconv.FormatInt(info.ID, 10)))
	}
	return a.writeReport(w, r, status, &info)
}

func (a *API) deleteReport(w http.ResponseWriter, r *http.Request) error {
	id, err := queryReportID(r)
	if err != nil {
		return err
	}
	at := notify.Report{ID: id}
	if err := a.unchangedReport(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	if err := a.Reports.Delete(r.Context(), id, at.Version); err != nil {
		return a.refusedReport(r.Context(), rest.MatchOf(r), id, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// enableReport switches a report on or off.
func (a *API) enableReport(w http.ResponseWriter, r *http.Request) error {
	id, wrongID := queryReportID(r)
	enabled, wrongEnabled := queryEnabled(r)
	if err := fault.Every(wrongID, wrongEnabled); err != nil {
		return err
	}
	at := notify.Report{ID: id}
	if err := a.unchangedReport(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	info, err := a.Reports.Enable(r.Context(), id, at.Version, enabled)
	if err != nil {
		return a.refusedReport(r.Context(), rest.MatchOf(r), id, err)
	}
	return a.writeReport(w, r, http.StatusOK, &info)
}

// testReport sends a report that need not be saved.
func (a *API) testReport(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := readReport(r)
	if err != nil {
		return err
	}
	done, err := a.Reports.Test(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, testedOf(done))
}

func (a *API) writeReport(w http.ResponseWriter, r *http.Request, status int, info *notify.ReportInfo) error {
	w.Header().Set("ETag", reportETag(info))
	return rest.WriteJSON(w, r, status, reportOf(info, a.Clock()))
}

func queryReportID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.InvalidField("id", "Give the id of a report as a whole number.")
	}
	return id, nil
}

// readReport reads a report, and notes every member that is wrong in itself.
func readReport(r *http.Request) (draft notify.Report, webhookURL string, wrong fault.Fields, err error) {
	var in reportJSON
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return draft, "", nil, err
	}
	if in.ID < 0 {
		wrong.Add("id", "Give a positive number. To create a report, leave it out.")
	}
	return notify.Report{
		ID: max(in.ID, 0), Version: in.Version, Name: in.Name, Connection: in.Connection, ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey,
		ChannelName: in.ChannelName, Format: formatOf(in.Format), InactivityDays: in.InactivityDays,
		ReportSchedule: notify.ReportSchedule{Frequency: notify.Frequency(rest.Key(string(in.Frequency))), Day: rest.Key(in.Day), Time: in.Time, TimeZone: in.TimeZone},
		SkipDrafts:     in.SkipDrafts, TargetBranchMask: in.TargetBranchMask, MentionReviewers: in.MentionReviewers,
		Enabled: in.Enabled == nil || *in.Enabled,
	}, in.WebhookURL, wrong, nil
}

func reportOf(info *notify.ReportInfo, now time.Time) reportJSON {
	r := &info.Report
	var warnings []Warning
	for _, w := range info.Warnings() {
		warnings = append(warnings, Warning{w.Name, w.Message})
	}
	if info.Unchecked != "" {
		warnings = append(warnings, Warning{"repositoryKey", info.Unchecked})
	}
	if info.Caution != "" {
		warnings = append(warnings, Warning{"webhookUrl", info.Caution})
	}
	failure, failedAt := info.LastFailure()
	return reportJSON{
		ID: r.ID, Version: r.Version, Name: r.Name, Connection: r.Connection, ProjectKey: r.ProjectKey, RepositoryKey: r.RepositoryKey,
		WebhookURL: info.Channel.Mask, ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint,
		ChannelState: ruleChannelOf(&info.Channel, now), Format: r.Format,
		InactivityDays: r.InactivityDays, Frequency: r.Frequency, Day: r.Day, Time: r.Time, TimeZone: r.TimeZone,
		SkipDrafts: r.SkipDrafts, TargetBranchMask: r.TargetBranchMask, MentionReviewers: r.MentionReviewers,
		Enabled: &r.Enabled, NextRunAt: timePointer(info.NextRunAt), LastRunAt: timePointer(info.LastRunAt),
		LastOutcome: info.LastOutcome(), LastDelivery: info.LastDelivery.ID, LastError: failure, LastErrorAt: timePointer(failedAt), RetryingSince: timePointer(info.RetryingSince),
		CreatedBy: r.CreatedBy, CreatedAt: &r.CreatedAt, UpdatedBy: r.UpdatedBy, UpdatedAt: &r.UpdatedAt, Warnings: warnings,
	}
}
