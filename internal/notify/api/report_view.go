package api

import (
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/rest"
)

// reportViewJSON is what a report says now.
type reportViewJSON struct {
	ID             int64                 `json:"id"`
	Name           string                `json:"name"`
	AskedAt        time.Time             `json:"askedAt"`
	Open           int                   `json:"open"`
	Drafts         int                   `json:"drafts,omitempty"` // left out of the open ones
	InactivityDays int                   `json:"inactivityDays"`
	Inactive       int                   `json:"inactive"`
	Oldest         []idlePullRequestJSON `json:"oldest"` // the first 20
}

// idlePullRequestJSON is an inactive pull request.
type idlePullRequestJSON struct {
	ID           int64        `json:"id"`
	Title        string       `json:"title"`
	Author       personJSON   `json:"author"`
	Target       string       `json:"target,omitempty"`
	URL          string       `json:"url,omitempty"`
	IdleDays     int          `json:"idleDays"`
	WaitsFor     []personJSON `json:"waitsFor"`
	WaitsForMore int          `json:"waitsForMore,omitempty"`
}

// personJSON is a user of the platform.
type personJSON struct {
	Name        string `json:"name,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

// viewReport asks the platform and answers what the report says now: its figures,
// or its card in a format. Nothing is sent.
func (a *API) viewReport(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return identity.Missing(r.Context(), "There is no report %q.", r.PathValue("id"))
	}
	format := rest.Spelled(r.URL.Query().Get("format"), string(notify.Teams), string(notify.Slack), formatHTML)
	switch format {
	case "", string(notify.Teams), string(notify.Slack), formatHTML:
	default:
		return fault.InvalidField("format", "%q is not a format of a card; use teams, slack or html, or leave it out for the figures.", format)
	}
	view, err := a.Reports.View(r.Context(), id)
	if err != nil {
		return err
	}
	if format == "" {
		return rest.WriteJSON(w, r, http.StatusOK, reportViewOf(&view))
	}
	return writeCard(w, card.New(view.Event), format)
}

func reportViewOf(v *notify.ReportView) reportViewJSON {
	is := v.Event.Report
	out := reportViewJSON{
		ID: v.Report.ID, Name: v.Report.Name, AskedAt: v.AskedAt, Open: v.Open, Drafts: is.Drafts,
		InactivityDays: is.InactivityDays, Inactive: v.Inactive, Oldest: []idlePullRequestJSON{},
	}
	for i := range is.Oldest {
		p := &is.Oldest[i]
		one := idlePullRequestJSON{
			ID: p.ID, Title: p.Title, Author: personOf(p.Author), Target: p.Target, URL: p.URL, IdleDays: p.IdleDays,
			WaitsFor: []personJSON{}, WaitsForMore: p.WaitsForMore,
		}
		for _, u := range p.WaitsFor {
			one.WaitsFor = append(one.WaitsFor, personOf(u))
		}
		out.Oldest = append(out.Oldest, one)
	}
	return out
}

func personOf(u notify.User) personJSON { return personJSON{Name: u.Name, DisplayName: u.DisplayName} }
