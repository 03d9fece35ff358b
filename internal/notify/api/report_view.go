package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/card"
	"outrigger/internal/rest"
)

// ReportView is what a report says now.
type ReportView struct {
	ID             int64             `json:"id" doc:"The report's id."`
	Name           string            `json:"name" doc:"The report's name."`
	AskedAt        time.Time         `json:"askedAt" doc:"When the platform was asked."`
	Open           int               `json:"open"`
	Drafts         int               `json:"drafts,omitempty" doc:"How many drafts were left out."`
	InactivityDays int               `json:"inactivityDays"`
	Inactive       int               `json:"inactive" doc:"How many had no update for that many days."`
	Oldest         []IdlePullRequest `json:"oldest" max:"20" doc:"Those without an update for the longest."`
}

// MemberWords are those of the members that need more than a few.
func (ReportView) MemberWords() map[string]string {
	return map[string]string{
		"inactivityDays": "The report's own: days without an update that make a pull request inactive.",
		"open": "How many pull requests are open; without drafts where the report skips them, and into its target branches " +
			"alone.",
	}
}

// IdlePullRequest is an inactive pull request.
type IdlePullRequest struct {
	ID           int64    `json:"id" doc:"Its number in the repository."`
	Title        string   `json:"title" doc:"Its title."`
	Author       Person   `json:"author" doc:"Who opened it."`
	Target       string   `json:"target,omitempty" doc:"The branch that it is to be merged into."`
	URL          string   `json:"url,omitempty" doc:"Its page on the platform."`
	IdleDays     int      `json:"idleDays" doc:"Whole days without an update."`
	WaitsFor     []Person `json:"waitsFor" max:"10" doc:"Reviewers who have not approved."`
	WaitsForMore int      `json:"waitsForMore,omitempty" doc:"How many more there are."`
}

// Person is a user of the platform.
type Person struct {
	Name        string `json:"name,omitempty" doc:"The user's name on the platform."`
	DisplayName string `json:"displayName,omitempty" doc:"What the platform shows for it."`
}

// ReportViewOrCard is what a report says now, as figures or as a message.
type ReportViewOrCard struct {
	rest.AnyOf
	View *ReportView
	Card map[string]any `doc:"The message."`
}

type viewedReport struct {
	ID     int64  `path:"id" of:"report" min:"1" doc:"The report's id." example:"999"`
	Format string `query:"format" enum:"teams,slack,html"`
}

// MemberWords are those of the parameters that need more than a few.
func (viewedReport) MemberWords() map[string]string {
	return map[string]string{
		"format": "The message that Teams or Slack would be sent, or a page that shows it to people; without it, the figures.",
	}
}

// platformAway is said where a report could not be made.
var platformAway = map[int]string{
	http.StatusServiceUnavailable: "The code platform does not answer, or not with the pull requests; the message has its words and what " +
		"to do. `Retry-After` has seconds, where the platform said how many.",
	http.StatusNotFound: "There is no such report. Users without `SYS_ADMIN` get 403 instead.",
}

func (a *API) registerReportTrials(r *rest.Router) {
	refused := []int{http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	rest.Add(r, rest.Route{Method: "POST", Path: ReportsPath + "/test"}, rest.Words{
		ID: "testReport", Tag: "reports", Summary: "Sends what an activity report, which need not be saved, says now.",
		Text: "Asks the platform and sends the card at once, at most 10 tests a minute and user, those of rules included. For users who " +
			"administer the repository. `name` and the schedule are not looked at. With an `id`, an empty `webhookUrl` or the report's " +
			"own mask means the stored one. The report stays as it is.",
		Answer: "The result, whatever the chat platform answered.", Refused: refused, RefusedFor: platformAway,
	}, a.testReport, rest.Example[reportDraft, Tested]{
		Name: "noAddress", In: reportDraft{Report: Report{
			ProjectKey: "ALPHA", RepositoryKey: "api", ReportContent: notify.ReportContent{InactivityDays: 14},
		}},
		Err: fault.InvalidField("webhookUrl", noReportURL),
	})
	rest.Serve[viewedReport, ReportViewOrCard](r, rest.Route{Method: "GET", Path: ReportsPath + "/{id}/view", Own: true}, rest.Words{
		ID: "viewReport", Tag: "reports", Summary: "Shows what an activity report says now.", Answer: "The figures, or the card.",
		Media: []string{"text/html"},
		Text: "Asks the platform and sends nothing. For users who administer the repository. Views and tests of reports ask the platform " +
			"at most ten times a minute for a user, twenty times for a repository, and three times at once for a user.",
		Refused: refused, RefusedFor: platformAway,
	}, a.viewReport, []rest.Example[viewedReport, ReportViewOrCard]{
		{Name: "figures", Out: &ReportViewOrCard{View: &exampleView}},
		{Name: "fresh", Err: fault.New(fault.NotFound, "There is no report with id 999.")},
	}...)
}

var exampleView = ReportView{
	ID: 3, Name: "Waiting reviews", AskedAt: exampleTime, Open: 12, InactivityDays: 14, Inactive: 1,
	Oldest: []IdlePullRequest{{
		ID: 81, Title: "Retry uploads that were cut off", Author: Person{"ada", "Ada Byron"}, Target: "main",
		URL: "https://code.example.com/projects/ALPHA/repos/api/pull-requests/81", IdleDays: 23, WaitsFor: []Person{{"joe", "Joe Ito"}},
	}},
}

// testReport sends a report that need not be saved.
func (a *API) testReport(ctx context.Context, in reportDraft) (Tested, error) {
	return testedOf(a.Reports.Test(ctx, in.report(), in.WebhookURL, in.Wrong))
}

// viewReport asks the platform and answers what the report says now: its figures,
// or its card in a format. Nothing is sent.
func (a *API) viewReport(w http.ResponseWriter, r *http.Request, in viewedReport) error {
	format := rest.Spelled(in.Format, string(notify.Teams), string(notify.Slack), formatHTML)
	switch format {
	case "", string(notify.Teams), string(notify.Slack), formatHTML:
	default:
		return fault.InvalidField("format", "%q is not a format of a card; use teams, slack or html, or leave it out for the figures.",
			format)
	}
	view, err := a.Reports.View(r.Context(), in.ID)
	if err != nil {
		return err
	}
	if format == "" {
		return rest.WriteJSON(w, r, http.StatusOK, reportViewOf(&view))
	}
	return writeCard(w, card.New(view.Event), format)
}

func reportViewOf(v *admin.ReportView) ReportView {
	is := v.Event.Report
	return ReportView{
		ID: v.Report.ID, Name: v.Report.Name, AskedAt: v.AskedAt, Open: v.Open, Drafts: is.Drafts,
		InactivityDays: is.InactivityDays, Inactive: v.Inactive, Oldest: rest.Each(is.Oldest, idleOf),
	}
}

func idleOf(p notify.IdlePullRequest) IdlePullRequest {
	return IdlePullRequest{
		ID: p.ID, Title: p.Title, Author: personOf(p.Author), Target: p.Target, URL: p.URL, IdleDays: p.IdleDays,
		WaitsFor: rest.Each(p.WaitsFor, personOf), WaitsForMore: p.WaitsForMore,
	}
}

func personOf(u notify.User) Person { return Person{Name: u.Name, DisplayName: u.DisplayName} }
