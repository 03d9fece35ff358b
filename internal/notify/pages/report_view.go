package pages

import (
	"html/template"
	"net/http"
	"strconv"
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
