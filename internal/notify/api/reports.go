package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// ReportsPath is where activity reports are.
const ReportsPath = basePath + "/reports"

// ReportsOrOne are the reports of a repository, a page of reports, or one.
type ReportsOrOne struct {
	rest.AnyOf
	All  []Report
	Page *rest.List[Report]
	One  *Report
}

type listedReports struct {
	ProjectKey    string    `query:"projectKey" doc:"Compared without case. On a cloud platform, the workspace."`
	RepositoryKey string    `query:"repositoryKey" doc:"Compared without case."`
	Connection    string    `query:"connection"`
	ID            *reportID `query:"id" min:"1" doc:"Gives only the report with this id."`
	Page          rest.Page
	Wrong         fault.Fields
}

// MemberWords are those of the parameters that need more than a few.
func (listedReports) MemberWords() map[string]string {
	return map[string]string{"connection": "Which platform; not needed when there is only one, nor by an `ADMIN` without `repositoryKey`."}
}

type saveReport struct {
	reportDraft
	Match rest.Match `json:"-"`
}

type deleteReport struct {
	ID    reportID `query:"id" required:"true" min:"1" example:"1" doc:"The report's id."`
	Match rest.Match
}

type enableReport struct {
	ID      reportID `query:"id" required:"true" min:"1" example:"1" doc:"The report's id."`
	Enabled enabling `query:"enabled" required:"true" example:"false" doc:"true switches the report on, false off."`
	Match   rest.Match
}

func (a *API) registerReports(r *rest.Router) {
	rest.Add(r, rest.Operation[listedReports, rest.Answer[ReportsOrOne]]{
		Route: rest.Route{Method: "GET", Path: ReportsPath},
		Words: rest.Words{
			ID: "listReports", Tag: "reports", Summary: "Lists activity reports, or returns one report.",
			Text: "With `projectKey` and `repositoryKey` the reports of that repository as an array, ordered by name, for users who administer " +
				"it; with `id` that report itself. Without `repositoryKey` a page of reports, ordered by name: with `projectKey` those of a project, " +
				"for who administers it (`PROJECT_ADMIN`), without it all, for an `ADMIN`.",
			Answer:  "The reports of a repository as an array, or a page of reports; with `id` the report itself, and its `ETag`.",
			Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusNotFound},
		},
		Examples: []rest.Example[listedReports, rest.Answer[ReportsOrOne]]{{
			Name: "repository", Out: &rest.Answer[ReportsOrOne]{Body: ReportsOrOne{All: []Report{savedReport()}}},
		}},
		Do: a.listReports,
	})
	rest.Add(r, rest.Operation[saveReport, rest.Answer[Report]]{
		Route: rest.Route{Method: "POST", Path: ReportsPath},
		Words: rest.Words{
			ID: "saveReport", Tag: "reports", Summary: "Creates or saves an activity report.", Text: saveReportText,
			Answer: "The report was saved.", Headers: []string{"ETag"},
			Also:    []rest.Success{{Status: http.StatusCreated, Text: "The report was created.", Headers: []string{"Location", "ETag"}}},
			Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		},
		Examples: saveReportExamples(),
		Do:       a.saveReport,
	})
	rest.Add(r, rest.Operation[deleteReport, rest.None]{
		Route: rest.Route{Method: "DELETE", Path: ReportsPath},
		Words: rest.Words{
			ID: "deleteReport", Tag: "reports", Summary: "Deletes an activity report.", Answer: "The report is deleted.",
			Text:    "For users who administer its repository. A message of the report that waits is cancelled.",
			Refused: []int{http.StatusForbidden, http.StatusNotFound},
		},
		Do: a.deleteReport,
	})
	rest.Add(r, rest.Operation[enableReport, rest.Answer[Report]]{
		Route: rest.Route{Method: "PUT", Path: ReportsPath + "/enabled"},
		Words: rest.Words{
			ID: "enableReport", Tag: "reports", Summary: "Switches an activity report on or off.", Answer: "The report as it is now.",
			Text:    "For users who administer its repository. A report that is switched on runs at the next time that it is due.",
			Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusNotFound},
		},
		Do: a.enableReport,
	})
	a.registerReportTrials(r)
}

func (a *API) listReports(ctx context.Context, in listedReports) (out rest.Answer[ReportsOrOne], err error) {
	if in.ID != nil {
		if err := in.Wrong.Err(); err != nil {
			return out, err
		}
		info, err := a.Reports.Get(ctx, int64(*in.ID))
		if err != nil {
			return out, err
		}
		one := a.answerReport(&info)
		out.Body.One, out.ETag = &one.Body, one.ETag
		return out, nil
	}
	of := notify.ReportQuery{Connection: in.Connection, ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey}
	if a.Reports.MayListAll(ctx, of) {
		out.Body.Page, err = a.pageOfReports(ctx, of, in)
		return out, err
	}
	reports, err := a.Reports.List(ctx, of)
	if err := fault.Every(in.Wrong.Err(), err); err != nil {
		return out, err
	}
	out.Body.All = make([]Report, len(reports))
	for i := range reports {
		out.Body.All[i] = reportOf(&reports[i], a.Clock())
	}
	return out, nil
}

// pageOfReports lists the reports of a project, or of all.
func (a *API) pageOfReports(ctx context.Context, of notify.ReportQuery, in listedReports) (*rest.List[Report], error) {
	ask := notify.ReportPage{Connection: of.Connection, Project: of.ProjectKey, Limit: in.Page.Limit + 1}
	if id, name, ok := strings.Cut(in.Page.After, " "); ok {
		var err error
		if ask.AfterID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, rest.ErrAfter()
		}
		ask.AfterName = name
	}
	reports, err := a.Reports.Page(ctx, ask)
	if err := fault.Every(in.Wrong.Err(), err); err != nil {
		return nil, err
	}
	after := func(info notify.ReportInfo) string { return strconv.FormatInt(info.ID, 10) + " " + info.Name }
	list, err := rest.NewList(in.Page, reports, nil, after, func(info notify.ReportInfo) Report { return reportOf(&info, a.Clock()) })
	return &list, err
}

func (a *API) saveReport(ctx context.Context, in saveReport) (out rest.Answer[Report], err error) {
	draft := in.report()
	if err := a.unchangedReport(ctx, in.Match, &draft); err != nil {
		return out, err
	}
	info, err := a.Reports.Save(ctx, draft, in.WebhookURL, in.Wrong)
	if err != nil {
		return out, a.refusedReport(ctx, in.Match, draft.ID, err)
	}
	out = a.answerReport(&info)
	if draft.ID == 0 {
		out.Status = http.StatusCreated
		out.Location = rest.Link(ctx, ReportsPath+"?id="+strconv.FormatInt(info.ID, 10))
	}
	return out, nil
}

func (a *API) deleteReport(ctx context.Context, in deleteReport) (none rest.None, err error) {
	at := notify.Report{ID: int64(in.ID)}
	if err := a.unchangedReport(ctx, in.Match, &at); err != nil {
		return none, err
	}
	if err := a.Reports.Delete(ctx, at.ID, at.Version); err != nil {
		return none, a.refusedReport(ctx, in.Match, at.ID, err)
	}
	return none, nil
}

// enableReport switches a report on or off.
func (a *API) enableReport(ctx context.Context, in enableReport) (out rest.Answer[Report], err error) {
	at := notify.Report{ID: int64(in.ID)}
	if err := a.unchangedReport(ctx, in.Match, &at); err != nil {
		return out, err
	}
	info, err := a.Reports.Enable(ctx, at.ID, at.Version, bool(in.Enabled))
	if err != nil {
		return out, a.refusedReport(ctx, in.Match, at.ID, err)
	}
	return a.answerReport(&info), nil
}

func (a *API) answerReport(info *notify.ReportInfo) rest.Answer[Report] {
	return rest.Answer[Report]{Body: reportOf(info, a.Clock()), ETag: reportETag(info)}
}
