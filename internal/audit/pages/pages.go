// Package pages is the audit trail in the console.
package pages

import (
	"embed"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/audit/api"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

//go:embed *.html
var templates embed.FS

const (
	path     = "/system/audit"
	pageSize = 50
)

// Pages shows what the API answers.
type Pages struct {
	API   *api.API
	Clock func() time.Time
	Words Words
}

// Register adds the page.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(templates)
	c.AddNav(console.Nav{Section: "System", Label: "Audit trail", Path: path, Visible: administersSomething})
	c.Handle("GET "+path, console.SignedIn, p.list, "audit")
}

func administersSomething(p *identity.Principal) bool { return p != nil && len(p.Grants) > 0 }

// row is an entry as the page shows it.
type row struct {
	audit.Stored
	Did     string // what was done, as a verb in the past
	Thing   string // what people call it; "" where its kind says enough
	Home    string // the page of the thing; "" where there is none
	Place   string // where the thing is
	Changes []change
}

type view struct {
	console.List
	Rows   []row
	Export string
}

var areas = []console.Option{
	{Label: "Everything"}, {Value: "notifications", Label: "notifications"}, {Value: "mail", Label: "mail"},
	{Value: "threads", Label: "threaded comments"}, {Value: "identity", Label: "users and tokens"}, {Value: "system", Label: "system"},
}

// times are how far back the list looks.
var times = []struct {
	value, label string
	back         time.Duration
}{
	{"24h", "last 24 hours", 24 * time.Hour}, {"7d", "last 7 days", 7 * 24 * time.Hour}, {"30d", "last 30 days", 30 * 24 * time.Hour},
}

func (p *Pages) list(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	f := audit.Filter{Who: strings.TrimSpace(q.Get("who")), Area: q.Get("area"), Object: strings.TrimSpace(q.Get("object")),
		Limit: pageSize + 1}
	f.Before, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	form, when := console.NewForm().Set("who", f.Who).Set("area", f.Area).Set("object", f.Object), []console.Option{{Label: "Any time"}}
	for _, t := range times {
		when = append(when, console.Option{Value: t.value, Label: t.label})
		if q.Get("since") == t.value {
			f.Since = p.Clock().Add(-t.back)
			form.Set("since", t.value)
		}
	}
	v := view{List: console.NewList(path, form, []console.Filter{
		{Name: "who", Label: "Who", Search: true}, {Name: "area", Label: "Area", Options: areas},
		{Name: "object", Label: "Object", Placeholder: "Object, such as rule"}, {Name: "since", Label: "When", Options: when},
	})}
	found, err := p.API.Entries(r.Context(), f)
	if err != nil {
		return nil, err
	}
	v.Export = api.ExportLink(f)
	found = console.PageOf(&v.List, found, pageSize, f.Before == 0, func(last *audit.Stored) []string {
		return []string{"after", strconv.FormatInt(last.ID, 10)}
	})
	err = v.Count(len(found), "change", "changes", func() (int, bool, error) { return p.API.Total(r.Context(), f, console.MaxTotal) })
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		v.Rows = append(v.Rows, p.rowOf(e))
	}
	return console.Page{Template: "audit", Title: "Audit trail", Data: v}, nil
}

func (p *Pages) rowOf(e audit.Stored) row {
	return row{Stored: e, Did: did(&e), Thing: thing(&e), Home: home(&e), Place: place(&e), Changes: p.Words.changes(&e)}
}
