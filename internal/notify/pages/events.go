package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/card"
)

const eventsPath = "/notifications/events"

func (p *Pages) registerEvents(c *console.Console) {
	c.Handle("GET "+eventsPath, console.SignedIn, p.listEvents, "events")
	c.Handle("GET "+eventsPath+"/live", console.SignedIn, p.liveEvents, "events")
	c.Handle("GET "+eventsPath+"/{id}", console.SignedIn, p.showEvent, "event")
}

type eventRow struct {
	notify.LoggedEvent
	Badge console.Badge
	What  string
	Where string
	Who   string
	Path  string
}

type eventList struct {
	console.List
	Rows    []eventRow
	Live    bool // the newest are listed
	Refused []refusedRow
}

// eventFilters are the filters of the list, without their choices.
func eventFilters() []console.Filter {
	return []console.Filter{
		{Name: "outcome", Label: "Outcome"}, {Name: "type", Label: "Type"}, {Name: "place", Label: "Repository"},
		{Name: "since", Label: "Received"},
	}
}

func eventQuery(form *console.Form) string {
	return console.NewList(eventsPath, form, eventFilters()).Query
}

// eventFilterOf reads the filters; what was not offered is no filter.
func (p *Pages) eventFilterOf(get func(string) string) (notify.EventFilter, *console.Form) {
	f := notify.EventFilter{Fate: notify.Fate(get("outcome")), Limit: pageSize}
	if !slices.Contains(notify.Fates(), f.Fate) {
		f.Fate = ""
	}
	form := console.NewForm().Set("outcome", string(f.Fate))
	if t, ok := notify.ParseEventType(get("type")); ok {
		f.Types = notify.NewTypeSet(t)
		form.Set("type", t.String())
	}
	if connection, at, ok := strings.Cut(get("place"), "/"); ok {
		f.Connection = connection
		f.Project, f.Repository, _ = strings.Cut(at, "/")
		form.Set("place", get("place"))
	}
	for _, t := range times {
		if t.value == get("since") {
			f.Since = p.Clock().Add(-t.back)
			form.Set("since", t.value)
		}
	}
	return f, form
}

func (p *Pages) listEvents(r *http.Request) (console.Response, error) {
	list, err := p.eventRows(r.Context(), r.URL.Query())
	if err != nil {
		return nil, err
	}
	f, _ := p.eventFilterOf(list.Get)
	err = list.Count(len(list.Rows), "event", "events", func() (int, bool, error) { return p.Events.Total(r.Context(), f, console.MaxTotal) })
	if err != nil {
		return nil, err
	}
	if err := p.offerEvents(r, &list); err != nil {
		return nil, err
	}
	if list.Refused, err = p.refused(r.Context(), f.Connection); err != nil {
		return nil, err
	}
	return console.Page{Template: "events", Title: "Events", Data: list}, nil
}

// liveEvents follows the newest events of a filter.
func (p *Pages) liveEvents(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	q.Del("after")
	live := console.Live{
		Template: "events", Part: "event-list",
		Data: func(ctx context.Context) (any, error) { return p.eventRows(ctx, q) },
		Version: func(ctx context.Context) (string, error) {
			f, _ := p.eventFilterOf(q.Get)
			return p.Events.Version(ctx, f)
		},
	}
	if _, form := p.eventFilterOf(q.Get); admin.SeesAll(r.Context()) {
		live.Topic = eventsPath + eventQuery(form)
	}
	return live, nil
}

// eventRows are the events of a page, which the query names.
func (p *Pages) eventRows(ctx context.Context, q url.Values) (eventList, error) {
	f, form := p.eventFilterOf(q.Get)
	f.Before, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	list := eventList{List: console.NewList(eventsPath, form, eventFilters()), Live: f.Before == 0}
	found, err := p.Events.List(ctx, f)
	if err != nil {
		return list, err
	}
	if !list.Live {
		list.FromFirst()
	}
	if found.Next != 0 {
		list.NextAt("after", strconv.FormatInt(found.Next, 10))
	}
	for _, e := range found.Events {
		list.Rows = append(list.Rows, eventRowOf(e))
	}
	return list, nil
}

// editions of the platforms that are configured: the filter offers their event
// types only.
func (p *Pages) editions() []notify.Edition {
	var editions []notify.Edition
	for _, e := range []notify.Edition{notify.SelfHosted, notify.Cloud} {
		if len(p.Rules.Connections(e)) > 0 {
			editions = append(editions, e)
		}
	}
	return editions
}

// offerEvents fills the filters' choices: of places those of the rules that who
// asks administers, of their grants, and of the page.
func (p *Pages) offerEvents(r *http.Request, list *eventList) error {
	fates := []console.Option{{Label: "Every outcome"}}
	for _, fate := range notify.Fates() {
		fates = append(fates, console.Option{Value: string(fate), Label: fateLabels[fate]})
	}
	types := []console.Option{{Label: "Every type"}}
	for _, g := range eventGroups(p.editions()...) {
		types = append(types, g.Options...)
	}
	channels, err := p.Channels.List(r.Context(), notify.ChannelPage{Limit: maxOffered, Uncounted: true})
	if err != nil {
		return err
	}
	who := identity.From(r.Context())
	var places options
	for i := range channels {
		for k := range channels[i].Rules {
			if rule := &channels[i].Rules[k]; who.May(rule.Access()) {
				places.eventPlace(rule.Connection, rule.ProjectKey, rule.RepositoryKey)
			}
		}
	}
	for _, g := range who.Grants {
		places.eventPlace(g.Resource.Connection, g.Resource.Project, g.Resource.Repository)
	}
	for i := range list.Rows {
		e := &list.Rows[i]
		places.eventPlace(e.Connection, e.Project, e.Repository)
	}
	list.Offer("outcome", fates)
	list.Offer("type", types)
	list.Offer("place", places.sorted("Every repository", list.Get("place")))
	list.Offer("since", offeredTimes())
	return nil
}

// eventPlace adds a project or repository of a connection.
func (o *options) eventPlace(connection, project, repository string) {
	if project != "" {
		o.add(strings.TrimSuffix(connection+"/"+project+"/"+repository, "/"), strings.TrimSuffix(project+" / "+repository, " / "))
	}
}

var fateLabels = map[notify.Fate]string{
	notify.EventTaken:         "taken by a rule",
	notify.EventNotTaken:      "no rule took it",
	notify.EventSilent:        "nothing to notify of",
	notify.EventUnknown:       "unknown event key",
	notify.EventNotUnderstood: "not understood",
}

func eventRowOf(e notify.LoggedEvent) eventRow {
	row := eventRow{LoggedEvent: e, Badge: eventBadge(&e), What: e.Key, Path: eventsPath + "/" + idText(e.ID)}
	if row.What == "" {
		row.What = "A webhook without an event key"
	}
	row.Where = strings.Trim(e.Project+" / "+e.Repository, "/ ")
	if of := e.Event; of != nil {
		row.What, row.Who = card.New(of).Title, of.Actor.Label()
		if of.Branch != "" {
			row.Where += " · " + of.Branch
		}
	}
	if row.Where == "" {
		row.Where = e.Connection
	}
	return row
}

func eventBadge(e *notify.LoggedEvent) console.Badge {
	fate := e.Fate()
	b := console.Badge{Tone: console.Quiet, Text: fateLabels[fate]}
	switch {
	case fate == notify.EventTaken && e.Rules == 1:
		b = console.Badge{Tone: console.Good, Text: "taken by 1 rule"}
	case fate == notify.EventTaken:
		b = console.Badge{Tone: console.Good, Text: "taken by " + strconv.Itoa(e.Rules) + " rules"}
	case e.Withheld():
		b = console.Badge{Tone: console.Warn, Text: "withheld"}
	case fate == notify.EventNotUnderstood:
		b.Tone = console.Bad
	}
	return b
}
