package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

func (p *Pages) registerRules(c *console.Console) {
	c.Handle("GET /notifications", visibleTo(administersAnything), p.leadToRules)
	c.Handle("GET "+rulesPath, console.SignedIn, p.listRules, "rules")
	c.Handle("GET "+choicesPath, visibleTo(administersAnything), p.showChoices)
	c.Handle("POST "+rulesPath+"/cards", console.SignedIn, p.showCards, "rule-form")
	for _, base := range []string{rulesPath, cloudRulesPath} {
		c.Handle("GET "+base+"/new", console.SignedIn, p.withChannels(p.blankRule), "rule-form")
		c.Handle("POST "+base+"/new", console.SignedIn, p.withChannels(p.saveRule), "rule-form")
		c.Handle("POST "+base+"/try", console.SignedIn, p.showTrial, "rule-form")
		c.Handle("GET "+base+"/{id}", console.SignedIn, p.withChannels(p.editRule), "rule-form")
		c.Handle("POST "+base+"/{id}", console.SignedIn, p.withChannels(p.saveRule), "rule-form")
		c.Handle("POST "+base+"/{id}/enabled", console.SignedIn, p.enableRule)
		c.Handle("POST "+base+"/{id}/test", console.SignedIn, p.testStoredRule)
		c.Handle("GET "+base+"/{id}/delete", console.SignedIn, p.confirmDelete)
		c.Handle("POST "+base+"/{id}/delete", console.SignedIn, p.deleteRule)
	}
}

// leadToRules leads to the rules of the widest level that the reader administers.
func (p *Pages) leadToRules(r *http.Request) (console.Response, error) {
	if p.cloudOnly() {
		return console.Redirect{To: cloudPath}, nil
	}
	who, level := identity.From(r.Context()), notify.RepositoryLevel
	switch {
	case who.May(identity.Admin, identity.Resource{}):
		level = notify.Global
	case slices.ContainsFunc(who.Grants, func(g identity.Grant) bool { return g.Permission == identity.ProjectAdmin }):
		level = notify.ProjectLevel
	}
	return console.Redirect{To: rulePlace{Level: level}.list()}, nil
}

// ruleRow is a rule in the list.
type ruleRow struct {
	*notify.RuleInfo
	Path      string // of its page
	Duplicate string // the form of a copy
	Place     string
	Only      string // the projects and repositories to which its filters limit it
	Events    string
	Branches  string
	State     console.Badge
	Detail    string
	Waiting   string // how many messages wait for the rule; "": none
	// LastBadge is the state of the last message; its text is "" where there is none.
	LastBadge console.Badge
	Trouble   bool // State says more than whether the rule is enabled
}

type ruleList struct {
	console.List
	At       rulePlace // its level "" is every level
	Here     string    // the query of the list's address, place in the list included: its actions lead back to it
	Rows     []ruleRow
	New      string
	Coverage []*coverageView // of global rules

	Webhook      *repositoryWebhookView // of a repository of the cloud edition
	Unauthorized int                    // rules whose account has to be authorised again
}

var levels = []struct {
	Level notify.Level
	Query string
	Label string
}{
	{"", "", "All"}, {notify.Global, "global", "Global"}, {notify.ProjectLevel, "project", "Project"},
	{notify.RepositoryLevel, "repository", "Repository"},
}

func (p *Pages) listRules(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	who := identity.From(r.Context())
	var level notify.Level
	for _, l := range levels {
		if q.Get("level") == l.Query {
			level = l.Level
		}
	}
	if level == notify.Global && !who.May(identity.Admin, identity.Resource{}) {
		level = ""
	}
	ask := notify.RulePage{
		Level: level, Edition: notify.SelfHosted, Search: strings.TrimSpace(q.Get("search")), Project: q.Get("project"),
		Repository: q.Get("repository"),
	}
	form := console.NewForm().Set("search", ask.Search).Set("project", ask.Project).Set("repository", ask.Repository)
	its := console.NewList(rulesPath, form, ruleFilters(level), "level", q.Get("level"))
	list, err := p.ruleList(r, rulePlace{Level: level}, ask, its)
	if err != nil {
		return nil, err
	}
	list.Here, list.New = listQuery(q), newRulePath(level, who)
	if level == notify.Global || level == "" {
		if list.Coverage, err = p.coverage(r.Context()); err != nil {
			return nil, err
		}
	}
	page := console.Page{
		Template: "rules", Title: "Rules", Data: list,
		Actions: []console.Action{{Label: "Add a rule", Path: list.New}},
	}
	for _, l := range levels {
		if l.Level == notify.Global && !who.May(identity.Admin, identity.Resource{}) {
			continue
		}
		page.Tabs = append(page.Tabs, console.Tab{Label: l.Label, Path: rulesPath + console.Query("level", l.Query), Current: l.Level == level})
	}
	return page, nil
}

// newRulePath is the form of a new rule of a level, or of the widest that who asks
// may make rules of.
func newRulePath(level notify.Level, who *identity.Principal) string {
	if level == "" && !who.May(identity.Admin, identity.Resource{}) {
		level = notify.ProjectLevel
	}
	return rulesPath + "/new" + console.Query("level", levelQuery(level))
}

// ruleFilters are the filters of a level's list.
func ruleFilters(level notify.Level) []console.Filter {
	filters := []console.Filter{{Name: "search", Label: "Name", Placeholder: "Search by name", Search: true}}
	if level == notify.ProjectLevel || level == notify.RepositoryLevel {
		filters = append(filters, console.Filter{Name: "project", Label: "Project key"})
	}
	if level == notify.RepositoryLevel {
		filters = append(filters, console.Filter{Name: "repository", Label: "Repository"})
	}
	return filters
}

// ruleList is a page of rules of a list.
func (p *Pages) ruleList(r *http.Request, at rulePlace, ask notify.RulePage, its console.List) (ruleList, error) {
	q := r.URL.Query()
	ask.AfterName, ask.Limit = q.Get("name"), pageSize+1
	ask.AfterID, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	list := ruleList{List: its, At: at, New: at.base() + "/new" + at.query()}
	found, err := p.Rules.Page(r.Context(), ask)
	if err != nil {
		return list, err
	}
	if ask.AfterID != 0 {
		list.FromFirst()
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		last := found[pageSize-1]
		list.NextAt("name", last.Name, "after", idText(last.ID))
	}
	err = list.Count(len(found), "rule", "rules", func() (int, bool, error) { return p.Rules.Total(r.Context(), ask, console.MaxTotal) })
	if err != nil {
		return list, err
	}
	for i := range found {
		row := ruleRowOf(&found[i], p.Clock())
		row.Path, row.Duplicate = at.base()+"/"+idText(row.ID), duplicatePath(p.placeOf(&row.Rule), row.ID)
		list.Rows = append(list.Rows, row)
	}
	return list, nil
}

// listQuery is the query of a list's address, of a request for the list or for an
// action of one of its rows.
func listQuery(q url.Values) string {
	return console.Query("level", q.Get("level"), "search", q.Get("search"), "project", q.Get("project"), "repository", q.Get("repository"),
		"name", q.Get("name"), "after", q.Get("after"))
}

// listOf is the list in which a rule was acted on.
func (p *Pages) listOf(r *http.Request, rule *notify.Rule) string {
	if at := p.placeOf(rule); at.Cloud() {
		return at.list()
	}
	return rulesPath + listQuery(r.URL.Query())
}

// enableRule switches a rule of the list on or off.
func (p *Pages) enableRule(r *http.Request) (console.Response, error) {
	info, err := p.ruleOfPath(r)
	if err != nil {
		return nil, err
	}
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	saved, err := p.Rules.Enable(r.Context(), info.ID, 0, form.Bool("enabled"))
	if errors.Is(err, notify.ErrNoAccount) { // the page of the rules leads to the accounts
		return console.Redirect{To: p.listOf(r, &info.Rule), Flash: "The rule " + info.Name + " stays off. " + fault.As(err).Message,
			Tone: console.Bad}, nil
	}
	if err != nil {
		return nil, err
	}
	said := "The rule " + saved.Name + " is off. Messages that waited for this rule alone are cancelled; you can redeliver them " +
		"under Deliveries."
	if saved.Enabled {
		said = "The rule " + saved.Name + " is on. It applies to new events from now on."
	}
	return console.Redirect{To: p.listOf(r, &saved.Rule), Flash: said}, nil
}

func levelQuery(level notify.Level) string {
	for _, l := range levels {
		if l.Level == level {
			return l.Query
		}
	}
	return ""
}

func ruleRowOf(info *notify.RuleInfo, now time.Time) ruleRow {
	row := ruleRow{RuleInfo: info, Place: info.Connection, Events: summary(info.EventTypes)}
	var only sayings
	only.lines("projects", info.Projects)
	only.lines("repositories", repositoryLines(info.Repositories))
	row.Only = strings.Join(only, "; ")
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
	case info.DestinationBranchFilter != "":
		row.Branches = info.DestinationBranchFilter
	}
	row.State, row.Detail = ruleBadge(info, now)
	if n := info.Backlog.Waiting; n > 0 {
		row.Waiting = atLeast(n, info.Backlog.More) + " waiting"
	}
	if info.Last.State != "" {
		row.LastBadge = deliveryBadge(info.Last.State)
	}
	row.Trouble = row.State.Text != "enabled" && row.State.Text != "disabled"
	return row
}

// atLeast writes a number that may be more.
func atLeast(n int, more bool) string {
	if more {
		return "at least " + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// ruleBadge says how a rule fares: disabled, or as its channel does.
func ruleBadge(info *notify.RuleInfo, now time.Time) (console.Badge, string) {
	standing, channel := info.Channel.Status(now), channelBadge(&info.Channel, now)
	channel.Text = "channel " + channel.Text
	switch {
	case standing.State == "broken":
		return channel, standing.Reason
	case !info.Enabled:
		return console.Badge{Tone: console.Quiet, Text: "disabled"}, ""
	case info.Paused:
		return console.Badge{Tone: console.Bad, Text: "paused"}, "Its account " + info.Account.Name + " was revoked. It takes nothing until " +
			"the account is authorised again."
	case standing.State != string(notify.Open):
		return channel, standing.Reason
	case info.MaskError() != "":
		return console.Badge{Tone: console.Warn, Text: "mask too slow"}, info.MaskError()
	}
	return console.Badge{Tone: console.Good, Text: "enabled"}, ""
}

func summary(types []notify.EventType) string {
	switch {
	case len(types) == 0: // of a filter that cannot be read
		return "none"
	case len(types) == 1:
		return types[0].Name()
	case len(types) == len(notify.EventTypes()):
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
