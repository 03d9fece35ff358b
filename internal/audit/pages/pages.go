// Package pages is the audit trail in the console.
package pages

import (
	"embed"
	"maps"
	"net/http"
	"net/url"
	"slices"
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
	Thing   string // what it is about, and where that is
	Changes []change
}

type change struct{ Name, Before, After string }

type view struct {
	*console.Form
	Areas, Times []console.Option
	Rows         []row
	Pager        console.Pager
	Export       string
	Filtered     bool
}

var areas = []console.Option{
	{Label: "everything"}, {Value: "notifications", Label: "notifications"}, {Value: "mail", Label: "mail"},
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
	f := audit.Filter{Who: strings.TrimSpace(q.Get("who")), Area: q.Get("area"), Object: strings.TrimSpace(q.Get("object")), Limit: pageSize + 1}
	f.Before, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	v := view{Form: console.NewForm().Set("who", f.Who).Set("area", f.Area).Set("object", f.Object), Areas: areas, Times: []console.Option{{Label: "any time"}}}
	for _, t := range times {
		v.Times = append(v.Times, console.Option{Value: t.value, Label: t.label})
		if q.Get("since") == t.value {
			f.Since = p.Clock().Add(-t.back)
			v.Set("since", t.value)
		}
	}
	found, err := p.API.Entries(r.Context(), f)
	if err != nil {
		return nil, err
	}
	chosen := url.Values{}
	for _, name := range []string{"who", "area", "object", "since"} {
		if value := v.Get(name); value != "" {
			chosen.Set(name, value)
		}
	}
	v.Filtered = len(chosen) > 0
	v.Export = api.ExportLink(f)
	if f.Before != 0 {
		v.Pager.First = path + "?" + chosen.Encode()
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		chosen.Set("after", strconv.FormatInt(found[pageSize-1].ID, 10))
		v.Pager.Next = path + "?" + chosen.Encode()
	}
	for _, e := range found {
		v.Rows = append(v.Rows, rowOf(e))
	}
	return console.Page{Template: "audit", Title: "Audit trail", Data: v}, nil
}

func rowOf(e audit.Stored) row {
	out := row{Stored: e, Thing: strings.TrimSpace(e.Object + " " + e.ObjectID)}
	names := slices.Collect(maps.Keys(e.Before))
	for name := range e.After {
		if _, both := e.Before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if e.Before[name] == "" && e.After[name] == "" {
			continue // a member that the new thing does not have
		}
		out.Changes = append(out.Changes, change{name, e.Before[name], e.After[name]})
	}
	return out
}
