package pages

import (
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
)

// reportView is the page that shows what a report says now.
type reportView struct {
	Report *notify.ReportInfo
	reportNow
}

// reportNow is what a report says now.
type reportNow struct {
	Card    template.HTML
	Said    string
	AskedAt time.Time
	Trouble string // why that is not known
}

func reportNowOf(v *admin.ReportView, format notify.Format) (now reportNow, err error) {
	now.AskedAt, now.Said = v.AskedAt, viewText(v)
	now.Card, err = cardhtml.Fragment(card.New(v.Event), format)
	return now, err
}

// viewReport asks the platform and shows the card as the channel would, or else what the
// platform answered.
func (p *Pages) viewReport(r *http.Request, info *notify.ReportInfo) (console.Response, error) {
	data := reportView{info, reportNow{AskedAt: p.Clock()}}
	page := console.Page{
		Template: "report-view", Title: info.Name,
		Up:      []console.Link{{Label: "Activity reports", Path: reportsPath}},
		Actions: []console.Action{{Label: "Edit", Path: reportPath(info)}, {Label: "Ask again", Path: reportPath(info) + "/view"}},
	}
	view, err := p.Reports.View(r.Context(), info.ID)
	switch {
	case fault.Is(err, fault.Unavailable):
		data.Trouble, page.Status = fault.As(err).Message, http.StatusServiceUnavailable
	case err != nil:
		return nil, err
	default:
		if data.reportNow, err = reportNowOf(&view, info.Format.ResolveFormat(info.Channel.Host)); err != nil {
			return nil, err
		}
	}
	page.Data = data
	return page, nil
}

// viewText sums up a view.
func viewText(v *admin.ReportView) string {
	idle := strconv.Itoa(v.Inactive)
	if v.Inactive == 0 {
		idle = "none"
	}
	return console.Counted(v.Open, "open pull request", "open pull requests") + ", " + idle + " inactive for " +
		console.Counted(v.Report.InactivityDays, "day", "days") + " or more"
}

// previewReport answers by itself what the report of a form would send now, for a form
// that changes.
func (p *Pages) previewReport(r *http.Request, form *console.Form) (console.Response, error) {
	var stored *notify.ReportInfo
	if id, notGiven := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64); notGiven == nil {
		info, err := p.Reports.Get(r.Context(), id)
		if err != nil {
			return nil, err
		}
		stored = &info
	}
	now, err := p.reportNow(r.Context(), form, stored)
	return console.Part{Template: "report-form", Part: "report-now", Data: now}, err
}

// reportNow asks the platform what the report of a form would send now. A form without
// a repository asks nothing.
func (p *Pages) reportNow(ctx context.Context, form *console.Form, stored *notify.ReportInfo) (now reportNow, err error) {
	if stored == nil && form.Get("repository") == "" {
		return now, nil
	}
	view, err := p.Reports.Preview(ctx, reportOf(form, stored))
	if f := fault.As(err); f != nil && f.Code != fault.Internal {
		now.Trouble = f.Message
		if len(f.Fields) > 0 {
			now.Trouble = messagesOf(atRepositoryField(err))
		}
		return now, nil
	}
	if err != nil {
		return now, err
	}
	format, err := p.formatOfForm(ctx, form, channelOfReport(stored))
	if err != nil {
		return now, err
	}
	return reportNowOf(&view, format)
}

// messagesOf is what is wrong with fields, without their names.
func messagesOf(err error) string {
	var words []string
	for _, f := range fault.As(err).Fields {
		words = append(words, f.Message)
	}
	return strings.Join(words, " ")
}
