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
	rest.Add(r, rest.Route{Method: "GET", Path: ReportsPath}, rest.Words{
		ID: "listReports", Tag: "reports", Summary: "Lists activity reports, or returns one report.",
		Text: "With `projectKey` and `repositoryKey` the reports of that repository as an array, ordered by name, for users who " +
			"administer it; with `id` that report itself. Without `repositoryKey` a page of reports, ordered by name: with `projectKey` " +
			"those of a project, for who administers it (`PROJECT_ADMIN`), without it all, for an `ADMIN`.",
		Answer:  "The reports of a repository as an array, or a page of reports; with `id` the report itself, and its `ETag`.",
		Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.listReports, rest.Example[listedReports, rest.Answer[ReportsOrOne]]{
		Name: "repository", Out: &rest.Answer[ReportsOrOne]{Body: ReportsOrOne{All: []Report{savedReport()}}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: ReportsPath}, rest.Words{
		ID: "saveReport", Tag: "reports", Summary: "Creates or saves an activity report.", Text: saveReportText,
		Answer: "The report was saved.", Headers: []string{"ETag"},
		Also:    []rest.Success{{Status: http.StatusCreated, Text: "The report was created.", Headers: []string{"Location", "ETag"}}},
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, a.saveReport, saveReportExamples()...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: ReportsPath}, rest.Words{
		ID: "deleteReport", Tag: "reports", Summary: "Deletes an activity report.", Answer: "The report is deleted.",
		Text:    "For users who administer its repository. A message of the report that waits is cancelled.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, rest.Done(a.deleteReport))
	rest.Add(r, rest.Route{Method: "PUT", Path: ReportsPath + "/enabled"}, rest.Words{
		ID: "enableReport", Tag: "reports", Summary: "Switches an activity report on or off.", Answer: "The report as it is now.",
		Text:    "For users who administer its repository. A report that is switched on runs at the next time that it is due.",
		Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.enableReport, rest.Example[enableReport, rest.Answer[Report]]{Name: "on", Out: &rest.Answer[Report]{Body: savedReport()}})
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
	out.Body.All = rest.Each(reports, a.reportOf)
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
	list, err := rest.NewList(in.Page, reports, nil, after, a.reportOf)
	return &list, err
}

func (a *API) saveReport(ctx context.Context, in saveReport) (out rest.Answer[Report], err error) {
	draft := in.report()
	info, err := held(in.Match, draft.Version, a.reportNow(ctx, draft.ID), func(version int64) (notify.ReportInfo, error) {
		draft.Version = version
		return a.Reports.Save(ctx, draft, in.WebhookURL, in.Wrong)
	})
	if err != nil {
		return out, err
	}
	out = a.answerReport(&info)
	if draft.ID == 0 {
		out.Status = http.StatusCreated
		out.Location = rest.Link(ctx, ReportsPath+"?id="+strconv.FormatInt(info.ID, 10))
	}
	return out, nil
}

func (a *API) deleteReport(ctx context.Context, in deleteReport) error {
	id := int64(in.ID)
	return heldDo(in.Match, a.reportNow(ctx, id), func(version int64) error { return a.Reports.Delete(ctx, id, version) })
}

// enableReport switches a report on or off.
func (a *API) enableReport(ctx context.Context, in enableReport) (rest.Answer[Report], error) {
	id := int64(in.ID)
	info, err := held(in.Match, 0, a.reportNow(ctx, id), func(version int64) (notify.ReportInfo, error) {
		return a.Reports.Enable(ctx, id, version, bool(in.Enabled))
	})
	return a.answerReport(&info), err
}

func (a *API) answerReport(info *notify.ReportInfo) rest.Answer[Report] {
	return rest.Answer[Report]{Body: a.reportOf(*info), ETag: rest.ETag(info.ID, info.Version)}
}
