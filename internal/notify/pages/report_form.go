package pages

import (
	"context"
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// reportForm is the form of one report.
type reportForm struct {
	*console.Form
	Stored       *notify.ReportInfo // nil for a new one
	Connections  []console.Option
	Repositories []string // to choose from
	// How a repository is written, in a word and in a sentence.
	Example, RepositoryHint string
	Frequencies             []console.Option
	Days                    []console.Option
	TimeZones               []string
	Formats                 []console.Option
	Channels                bool // there are some to choose from
	Mask                    string
	Channel                 notify.ChannelStatus
	Next                    string
	NextPath                string
	Back                    string
	PreviewPath             string
	Now                     reportNow
	Tested                  *tested // what became of a test, nil: there was none
	Ran                     console.Badge
	Failure                 string // why its channel has no message of the last run
}

// What a new report is at first: of the values that suit most teams.
const (
	newInactivityDays = "7"
	newReportTime     = "09:00"
	newReportDay      = "MONDAY"
)

func (p *Pages) blankReport(r *http.Request) (console.Response, error) {
	form := console.NewForm().SetBool("enabled", true).Set("format", string(notify.Auto)).
		Set("repository", r.URL.Query().Get("repository")).Set("inactivityDays", newInactivityDays).
		Set("frequency", string(notify.Weekly)).Set("day", newReportDay).Set("time", newReportTime).Set("timeZone", p.Reports.Zone)
	if err := p.suggest(r.Context(), form); err != nil {
		return nil, err
	}
	return p.reportPage(r, form, nil)
}

// suggest fills in the one repository that who asks administers, and the
// platform of the repository, where that is certain.
func (p *Pages) suggest(ctx context.Context, form *console.Form) error {
	known, err := p.Repositories.Administered(ctx)
	if err != nil {
		return err
	}
	if len(known) == 1 && form.Get("repository") == "" && !identity.From(ctx).May(identity.Admin, identity.Resource{}) {
		form.Set("repository", repositoryName(known[0]))
	}
	for _, at := range known {
		if notify.Fold(repositoryName(at)) == notify.Fold(form.Get("repository")) {
			form.Set("connection", at.Connection)
		}
	}
	return nil
}

func (p *Pages) reportPage(r *http.Request, form *console.Form, stored *notify.ReportInfo) (console.Page, error) {
	data := &reportForm{
		Form: form, Stored: stored, Frequencies: frequencyOptions(), Days: dayOptions()[0].Options, TimeZones: timeZones(),
		Formats: formatOptions(),
		Next:    p.nextRun(scheduleOf(form)), NextPath: reportsPath + "/next", PreviewPath: reportsPath + "/preview", Back: reportsPath,
	}
	data.Connections = p.reportConnections()
	data.Example, data.RepositoryHint = p.repositoryHint()
	page := console.Page{
		Template: "report-form", Title: "New activity report", Up: []console.Link{{Label: "Activity reports", Path: reportsPath}},
	}
	var err error
	if data.Channels, err = p.anyChannels(r.Context()); err != nil {
		return page, err
	}
	if stored == nil {
		if data.Repositories, err = p.repositoryNames(r); err != nil {
			return page, err
		}
	} else {
		data.Mask, data.Channel = stored.Channel.Mask, stored.Channel.Status(p.Clock())
		data.Ran = outcomeBadge(stored.LastOutcome())
		data.Failure, _ = stored.LastFailure()
		data.PreviewPath += console.Query("id", idText(stored.ID))
		page.Title, page.Actions = stored.Name, []console.Action{{Label: "View", Path: reportPath(stored) + "/view"}}
	}
	page.Data = data
	return page, nil
}

// reportConnections are the connections to choose from. Of several none is chosen
// at first: a report on the wrong one finds nothing.
func (p *Pages) reportConnections() []console.Option {
	names, cloud := p.Reports.Connections(), p.Rules.Connections(notify.Cloud)
	options := []console.Option{{Label: "Choose a connection"}}
	for _, name := range names {
		label := name
		if len(cloud) > 0 && len(cloud) < len(names) && cloud.Find(name) != nil {
			label += " (cloud edition: workspace/repository)"
		}
		options = append(options, console.Option{Value: name, Label: label})
	}
	return options
}

// repositoryHint says how a repository is written, by the editions that there are.
func (p *Pages) repositoryHint() (example, hint string) {
	const (
		project   = "The project's key and the repository's slug, as in its address. A user's own project is ~name."
		workspace = "The slugs of the workspace and of the repository, as in its address."
	)
	switch cloud, all := len(p.Rules.Connections(notify.Cloud)), len(p.Reports.Connections()); {
	case cloud == 0:
		return "PROJECT/repository", project
	case cloud == all:
		return "workspace/repository", workspace
	}
	return "PROJECT/repository", project + " On a cloud platform: workspace/repository."
}

func (p *Pages) editReport(r *http.Request, info *notify.ReportInfo) (console.Response, error) {
	p.Reports.Caution(r.Context(), info)
	form := console.NewForm().Fill(info.Report).Set("channel", info.Channel.Text(info.Called()))
	for _, w := range info.Warnings() {
		form.Warn(w.Name, w.Message)
	}
	if info.Caution != "" {
		form.Warn("webhookUrl", info.Caution)
	}
	return p.reportPage(r, form, info)
}

func (p *Pages) saveReport(r *http.Request, form *console.Form) (console.Response, error) {
	var stored *notify.ReportInfo
	var err error
	if r.PathValue("id") != "" {
		if stored, err = p.reportOfPath(r); err != nil {
			return nil, err
		}
	}
	draft := reportOf(form, stored)
	page, err := p.reportPage(r, form, stored)
	if err != nil {
		return nil, err
	}
	if form.Get("do") == doShow {
		page.Data.(*reportForm).Now, err = p.reportNow(r.Context(), form, stored)
		return page, err
	}
	if form.Get("do") == doTest {
		attempt, err := p.Reports.Test(r.Context(), draft, form.Get("webhookUrl"), nil)
		if err != nil {
			return page, late(form, atRepositoryField(err))
		}
		page.Data.(*reportForm).Tested = testedOf(attempt)
		return page, nil
	}
	saved, err := p.Reports.Save(r.Context(), draft, form.Get("webhookUrl"), nil)
	if err != nil {
		return page, atRepositoryField(err)
	}
	if saved.Unchecked != "" {
		return console.Redirect{To: reportPath(&saved), Flash: "The report " + saved.Name + " is saved. " + saved.Unchecked,
			Tone: console.Warn}, nil
	}
	if len(saved.Warnings()) > 0 || saved.Caution != "" {
		return console.Redirect{
			To: reportPath(&saved), Flash: "The report " + saved.Name + " is saved. Check the warnings below.", Tone: console.Warn,
		}, nil
	}
	flash := "The report " + saved.Name + " is saved."
	if saved.Enabled {
		flash += " " + p.nextRun(saved.ReportSchedule) + "."
	}
	return console.Redirect{To: reportsPath, Flash: flash}, nil
}

// scheduleOf reads when a report is due. The form has a day always, without
// JavaScript in view too: it counts where the report is weekly.
func scheduleOf(form *console.Form) notify.ReportSchedule {
	var s notify.ReportSchedule
	if form.Read(&s); s.Frequency == notify.Daily || s.Frequency == notify.WorkingDay {
		s.Day = ""
	}
	return s
}

// reportOf makes a draft of a form. A number of days that is none is 0, which
// no report has.
func reportOf(form *console.Form, stored *notify.ReportInfo) (draft notify.Report) {
	form.Read(&draft)
	draft.ReportSchedule = scheduleOf(form)
	draft.Choice = aimOf(form, channelOfReport(stored), &draft.ChannelName, &draft.Format)
	at := repositoryOf(form.Get("repository"))
	if stored != nil {
		draft.ID, draft.Connection, at = stored.ID, stored.Connection, stored.At()
	}
	draft.ProjectKey, draft.RepositoryKey = at.ProjectKey, at.RepositoryKey
	return draft
}

// atRepositoryField has what is wrong with the keys said once, at the form's one
// field for both.
func atRepositoryField(err error) error {
	return fault.Renamed(err, func(f *fault.Field) {
		if f.Name != "projectKey" && f.Name != "repositoryKey" {
			return
		}
		f.Name = "repository"
		if strings.HasPrefix(f.Message, "A report is about one repository") {
			f.Message = "Enter the repository as PROJECT/repository, on a cloud platform as workspace/repository."
		}
	})
}
