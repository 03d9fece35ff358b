package notify

import (
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

//go:embed pages/connection*.html pages/hook*.html pages/renames.html pages/rule*.html
var pageFiles embed.FS

// Pages is the wing's part of the console.
type Pages struct {
	Rules *Rules
	Store *Store
	Clock func() time.Time
}

// pageSize is how many rows a list shows at once.
const pageSize = 50

const (
	rulesPath      = "/notifications/rules"
	deliveriesPath = "/notifications/deliveries"
)

// Register adds the pages.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(console.Sub(pageFiles, "pages"))
	c.AddNav(console.Nav{Section: "Notifications", Label: "Rules", Path: rulesPath, Visible: AdministersAnything})
	c.Handle("GET "+rulesPath, console.SignedIn, p.listRules, "rules")
	c.Handle("GET "+rulesPath+"/new", console.SignedIn, p.blankRule, "rule-form")
	c.Handle("POST "+rulesPath+"/new", console.SignedIn, p.saveRule, "rule-form")
	c.Handle("GET "+rulesPath+"/{id}", console.SignedIn, p.editRule, "rule-form")
	c.Handle("POST "+rulesPath+"/{id}", console.SignedIn, p.saveRule, "rule-form")
	c.Handle("GET "+rulesPath+"/{id}/delete", console.SignedIn, p.confirmDelete)
	c.Handle("POST "+rulesPath+"/{id}/delete", console.SignedIn, p.deleteRule)
}

// AdministersAnything tells whether somebody has a rule to look at at all.
func AdministersAnything(p *identity.Principal) bool {
	return p.May(identity.Admin, identity.Where{}) || slices.ContainsFunc(p.Grants, func(g identity.Grant) bool {
		return g.Permission == identity.ProjectAdmin || g.Permission == identity.RepoAdmin
	})
}

// ruleRow is a rule in the list.
type ruleRow struct {
	*RuleInfo
	Place    string
	Events   string
	Branches string
	State    console.Badge
	Detail   string
}

type ruleList struct {
	Level      Level
	Project    string
	Repository string
	Rows       []ruleRow
	Pager      console.Pager
	New        string
}

var levels = []struct {
	Level Level
	Query string
	Label string
}{
	{Global, "", "Global"}, {ProjectLevel, "project", "Project"}, {RepositoryLevel, "repository", "Repository"},
}

func (p *Pages) listRules(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	who := identity.From(r.Context())
	level := Global
	for _, l := range levels {
		if q.Get("level") == l.Query {
			level = l.Level
		}
	}
	if level == Global && !who.May(identity.Admin, identity.Where{}) {
		level = ProjectLevel
	}
	ask := RulePage{
		Level: level, Project: q.Get("project"), Repository: q.Get("repository"), AfterName: q.Get("name"), Limit: pageSize + 1,
		Visible: func(rule *Rule) bool { return who.May(rule.Access()) },
	}
	ask.AfterID, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	found, err := p.Store.PageRules(r.Context(), ask)
	if err != nil {
		return nil, err
	}
	list := ruleList{Level: level, Project: ask.Project, Repository: ask.Repository, New: rulesPath + "/new" + query("level", levelQuery(level))}
	if len(found) > pageSize {
		found = found[:pageSize]
		last := found[pageSize-1]
		list.Pager.Next = rulesPath + query("level", q.Get("level"), "project", ask.Project, "repository", ask.Repository,
			"name", last.Name, "after", strconv.FormatInt(last.ID, 10))
	}
	if ask.AfterID != 0 {
		list.Pager.First = rulesPath + query("level", q.Get("level"), "project", ask.Project, "repository", ask.Repository)
	}
	for i := range found {
		list.Rows = append(list.Rows, rowOf(&found[i], p.Clock()))
	}
	page := console.Page{
		Template: "rules", Title: "Rules", Data: list,
		Actions: []console.Action{{Label: "Add a rule", Path: list.New}},
	}
	for _, l := range levels {
		if l.Level == Global && !who.May(identity.Admin, identity.Where{}) {
			continue
		}
		page.Tabs = append(page.Tabs, console.Tab{Label: l.Label, Path: rulesPath + query("level", l.Query), Current: l.Level == level})
	}
	return page, nil
}

func levelQuery(level Level) string {
	for _, l := range levels {
		if l.Level == level {
			return l.Query
		}
	}
	return ""
}

// query writes pairs of names and values, leaving out what is empty.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func rowOf(info *RuleInfo, now time.Time) ruleRow {
	row := ruleRow{RuleInfo: info, Place: info.Connection, Events: summary(info.EventTypes), Branches: "all"}
	if info.ProjectKey != "" {
		row.Place += " / " + info.ProjectKey
	}
	if info.RepositoryKey != "" {
		row.Place += " / " + info.RepositoryKey
	}
	switch {
	case info.BranchMask != "":
		row.Branches = info.BranchMask
	case len(info.Branches) > 0:
		row.Branches = count(info.Branches)
	}
	row.State, row.Detail = ruleBadge(info, now)
	return row
}

// ruleBadge says how a rule fares: disabled, or as its channel does.
func ruleBadge(info *RuleInfo, now time.Time) (console.Badge, string) {
	standing := info.Channel.Standing(now)
	switch {
	case standing.State == "broken":
		return console.Badge{Tone: console.Bad, Text: "channel broken"}, standing.Reason
	case !info.Enabled:
		return console.Badge{Tone: console.Quiet, Text: "disabled"}, ""
	case standing.State == "unreachable":
		return console.Badge{Tone: console.Bad, Text: "unreachable"}, standing.Reason
	case standing.State == "waiting":
		return console.Badge{Tone: console.Warn, Text: "retrying"}, standing.Reason
	}
	return console.Badge{Tone: console.Good, Text: "enabled"}, ""
}

func summary(types []EventType) string {
	switch {
	case len(types) == 0: // of a filter that cannot be read
		return "none"
	case len(types) == 1:
		return types[0].Name()
	case len(types) == int(eventTypeCount):
		return "every event type"
	}
	return types[0].Name() + " and " + strconv.Itoa(len(types)-1) + " more"
}

func count(names []string) string {
	if len(names) <= 2 {
		s := names[0]
		for _, n := range names[1:] {
			s += ", " + n
		}
		return s
	}
	return names[0] + " and " + strconv.Itoa(len(names)-1) + " more"
}
