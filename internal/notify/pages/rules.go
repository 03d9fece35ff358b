package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

func (p *Pages) registerRules(c *console.Console) {
	c.Handle("GET /notifications", administrators, p.leadToRules)
	c.Handle("GET "+rulesPath, console.SignedIn, p.listRules, "rules")
	c.Handle("GET "+choicesPath, administrators, p.showChoices)
	c.Handle("POST "+rulesPath+"/cards", console.SignedIn, console.WithForm(p.showCards), "rule-form")
	for _, base := range []string{rulesPath, cloudRulesPath} {
		c.Handle("GET "+base+"/new", console.SignedIn, console.Of(p.placeOfQuery, p.blankRule), "rule-form")
		c.Handle("POST "+base+"/new", console.SignedIn, console.WithForm(p.saveRule), "rule-form")
		c.Handle("POST "+base+"/try", console.SignedIn, console.WithForm(p.showTrial), "rule-form")
		c.Handle("GET "+base+"/{id}", console.SignedIn, console.Of(p.ruleOfPath, p.editRule), "rule-form")
		c.Handle("POST "+base+"/{id}", console.SignedIn, console.WithForm(p.saveRule), "rule-form")
		c.Handle("POST "+base+"/{id}/enabled", console.SignedIn, console.FormOf(p.ruleOfPath, p.enableRule))
		c.Handle("POST "+base+"/{id}/test", console.SignedIn, console.Of(p.ruleOfPath, p.testStoredRule))
		c.Handle("GET "+base+"/{id}/delete", console.SignedIn, console.Of(p.ruleOfPath, p.confirmDelete))
		c.Handle("POST "+base+"/{id}/delete", console.SignedIn, console.Of(p.ruleOfPath, p.deleteRule))
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
	ask.Channel, _ = strconv.ParseInt(q.Get("channel"), 10, 64)
	form := console.NewForm().Set("search", ask.Search).Set("project", ask.Project).Set("repository", ask.Repository)
	if ask.Channel != 0 {
		form.Set("channel", idText(ask.Channel))
	}
	its := console.NewList(rulesPath, form, ruleFilters(level), "level", q.Get("level"))
	if err := p.offerChannels(r, &its); err != nil {
		return nil, err
	}
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
	return append(filters, console.Filter{Name: "channel", Label: "Channel"})
}

// offerChannels fills the choices of the channel that rules send to.
func (p *Pages) offerChannels(r *http.Request, list *console.List) error {
	channels, err := p.Channels.List(r.Context(), notify.ChannelPage{Limit: maxOffered, Uncounted: true})
	var names options
	for i := range channels {
		names.add(idText(channels[i].ID), channels[i].Name())
	}
	list.Offer("channel", names.sorted("Every channel", list.Get("channel")))
	return err
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
	found = console.PageOf(&list.List, found, pageSize, ask.AfterID == 0, func(last *notify.RuleInfo) []string {
		return []string{"name", last.Name, "after", idText(last.ID)}
	})
	err = list.Count(len(found), "rule", "rules", func() (int, bool, error) { return p.Rules.Total(r.Context(), ask, console.MaxTotal) })
	if err != nil {
		return list, err
	}
	several := len(p.Rules.Connections(at.edition())) > 1
	for i := range found {
		row := ruleRowOf(&found[i], at.edition(), p.Clock())
		row.Place = ruleWhere(&row.Rule, several)
		row.Path, row.Duplicate = at.base()+"/"+idText(row.ID), duplicatePath(p.placeOf(&row.Rule), row.ID)
		list.Rows = append(list.Rows, row)
	}
	return list, nil
}

// listQuery is the query of a list's address, of a request for the list or for an
// action of one of its rows.
func listQuery(q url.Values) string {
	return console.Query("level", q.Get("level"), "search", q.Get("search"), "project", q.Get("project"), "repository", q.Get("repository"),
		"channel", q.Get("channel"), "name", q.Get("name"), "after", q.Get("after"))
}

// listOf is the list in which a rule was acted on.
func (p *Pages) listOf(r *http.Request, rule *notify.Rule) string {
	if at := p.placeOf(rule); at.Cloud() {
		return at.list()
	}
	return rulesPath + listQuery(r.URL.Query())
}

// enableRule switches a rule of the list on or off.
func (p *Pages) enableRule(r *http.Request, form *console.Form, info *notify.RuleInfo) (console.Response, error) {
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
