package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
)

const reportsPath = "/notifications/reports"

func (p *Pages) registerReports(c *console.Console) {
	c.Handle("GET "+reportsPath, console.SignedIn, p.listReports, "reports")
	c.Handle("GET "+reportsPath+"/new", console.SignedIn, p.blankReport, "report-form")
	c.Handle("POST "+reportsPath+"/new", console.SignedIn, console.WithForm(p.saveReport), "report-form")
	c.Handle("POST "+reportsPath+"/next", console.SignedIn, console.WithForm(p.showNextRun), "report-form")
	c.Handle("POST "+reportsPath+"/preview", console.SignedIn, console.WithForm(p.previewReport), "report-form")
	c.Handle("GET "+reportsPath+"/{id}", console.SignedIn, console.Of(p.reportOfPath, p.editReport), "report-form")
	c.Handle("POST "+reportsPath+"/{id}", console.SignedIn, console.WithForm(p.saveReport), "report-form")
	c.Handle("POST "+reportsPath+"/{id}/enabled", console.SignedIn, console.FormOf(p.reportOfPath, p.enableReport))
	c.Handle("POST "+reportsPath+"/{id}/test", console.SignedIn, console.Of(p.reportOfPath, p.testStoredReport))
	c.Handle("GET "+reportsPath+"/{id}/view", console.SignedIn, console.Of(p.reportOfPath, p.viewReport), "report-view")
	c.Handle("GET "+reportsPath+"/{id}/delete", console.SignedIn, console.Of(p.reportOfPath, p.confirmDeleteReport))
	c.Handle("POST "+reportsPath+"/{id}/delete", console.SignedIn, console.Of(p.reportOfPath, p.deleteReport))
}

// reportRow is a report in the list.
type reportRow struct {
	*notify.ReportInfo
	Place    string
	Schedule string
	Next     string // the day, at the time of the schedule; "" where there is none
	NextAt   string // with the time
	Last     string
	Ran      console.Badge // what came of the last run
	Failure  string        // why its channel has no message of it
	State    console.Badge // of the channel, where it is in trouble
	Detail   string
}

// Cause is why the report's channel is not well, in a row of a list.
func (r reportRow) Cause() string { return answer.Brief(r.Detail) }

type reportList struct {
	console.List
	Rows []reportRow
	New  string
}

// listReports lists the reports of all repositories that who asks administers,
// or of one.
func (p *Pages) listReports(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	narrowed := q.Get("repository")
	at := repositoryOf(narrowed)
	ask := notify.ReportPage{Project: at.ProjectKey, Repository: at.RepositoryKey, AfterName: q.Get("name"), Limit: pageSize + 1}
	ask.AfterID, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	found, err := p.Reports.Page(r.Context(), ask)
	if err != nil {
		return nil, err
	}
	names, err := p.repositoryNames(r)
	if err != nil {
		return nil, err
	}
	list := reportList{New: reportsPath + "/new" + console.Query("repository", narrowed),
		List: console.NewList(reportsPath, console.NewForm().Set("repository", narrowed),
			[]console.Filter{{Name: "repository", Label: "Repository", Placeholder: "PROJECT/repository", Suggestions: names, Search: true}})}
	found = console.PageOf(&list.List, found, pageSize, ask.AfterID == 0, func(last *notify.ReportInfo) []string {
		return []string{"name", last.Name, "after", idText(last.ID)}
	})
	err = list.Count(len(found), "report", "reports", func() (int, bool, error) { return p.Reports.Total(r.Context(), ask, console.MaxTotal) })
	if err != nil {
		return nil, err
	}
	for i := range found {
		list.Rows = append(list.Rows, p.reportRow(&found[i]))
	}
	return console.Page{
		Template: "reports", Title: "Activity reports", Data: list,
		Actions: []console.Action{{Label: "Add a report", Path: list.New}},
	}, nil
}

func (p *Pages) reportRow(info *notify.ReportInfo) reportRow {
	now := p.Clock()
	row := reportRow{
		ReportInfo: info, Place: info.ProjectKey + "/" + info.RepositoryKey, Schedule: scheduleText(info.ReportSchedule),
		Next: formatIn(info.NextRunAt, info.TimeZone, now, "Mon 2 Jan", ""), NextAt: inZone(info.NextRunAt, info.TimeZone, now),
		Last: inZone(info.LastRunAt, info.TimeZone, now),
	}
	row.Failure, _ = info.LastFailure()
	if row.Ran = outcomeBadge(info.LastOutcome()); !info.RetryingSince.IsZero() {
		row.Ran = console.Badge{Tone: console.Warn, Text: "retrying"}
	}
	if s := info.Channel.Status(now); s.State != string(notify.Open) {
		row.State, row.Detail = channelBadge(&info.Channel, now), s.Reason
		row.State.Text = "channel " + row.State.Text
	}
	return row
}

// outcomeBadge shows what became of a run; nothing where that is not known.
func outcomeBadge(outcome notify.RunOutcome) console.Badge {
	if outcome == "" {
		return console.Badge{}
	}
	return deliveryBadge(notify.DeliveryState(outcome))
}

// repositoryNames are the repositories to choose from, as repositoryOf reads
// them.
func (p *Pages) repositoryNames(r *http.Request) ([]string, error) {
	known, err := p.Repositories.Administered(r.Context())
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(known))
	for _, at := range known {
		if name := repositoryName(at); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func repositoryName(at identity.Resource) string { return at.Project + "/" + at.Repository }

// repositoryOf reads PROJECT/repository; a project's key may stand alone.
func repositoryOf(text string) notify.RepositoryRef {
	project, repository, _ := strings.Cut(strings.Trim(strings.TrimSpace(text), "/"), "/")
	return notify.RepositoryRef{ProjectKey: strings.TrimSpace(project), RepositoryKey: strings.TrimSpace(repository)}
}

func (p *Pages) reportOfPath(r *http.Request) (*notify.ReportInfo, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, identity.Missing(r.Context(), "There is no such report.")
	}
	info, err := p.Reports.Get(r.Context(), id)
	return &info, err
}

// enableReport switches a report of the list on or off.
func (p *Pages) enableReport(r *http.Request, form *console.Form, info *notify.ReportInfo) (console.Response, error) {
	saved, err := p.Reports.Enable(r.Context(), info.ID, 0, form.Bool("enabled"))
	if err != nil {
		return nil, err
	}
	said := "The report " + saved.Name + " is off. It sends nothing until it is switched on."
	if saved.Enabled {
		said = "The report " + saved.Name + " is on. " + p.nextRun(saved.ReportSchedule) + "."
	}
	return console.Redirect{To: reportsPath, Flash: said}, nil
}

// testStoredReport sends what a report of the list says now.
func (p *Pages) testStoredReport(r *http.Request, info *notify.ReportInfo) (console.Response, error) {
	to := reportsPath
	if r.URL.Query().Get("from") == "view" {
		to = reportPath(info) + "/view"
	}
	attempt, err := p.Reports.Test(r.Context(), info.Report, "", nil)
	if fault.Is(err, fault.Unavailable) {
		return console.Redirect{To: to}.OrSay(err, console.Bad, fault.Unavailable)
	}
	return testAnswer(to, attempt, err)
}

func reportPath(info *notify.ReportInfo) string { return reportsPath + "/" + idText(info.ID) }

func (p *Pages) confirmDeleteReport(_ *http.Request, info *notify.ReportInfo) (console.Response, error) {
	return console.Confirm{
		Title: "Delete the report " + info.Name + "?",
		Text: "Its channel gets no more reports about " + info.ProjectKey + "/" + info.RepositoryKey + ". The audit trail keeps what " +
			"the report was.",
		Verb: "Delete the report", Keep: "Keep the report", Back: reportPath(info),
	}, nil
}

func (p *Pages) deleteReport(r *http.Request, info *notify.ReportInfo) (console.Response, error) {
	err := p.Reports.Delete(r.Context(), info.ID, 0)
	return console.Redirect{To: reportsPath, Flash: "The report " + info.Name + " is deleted."}, err
}
