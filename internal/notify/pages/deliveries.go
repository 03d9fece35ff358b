package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/answer"
	"outrigger/internal/notify/card"
)

const (
	sendAgain = "Send again"
	doNotSend = "Do not send"
)

type deliveryRow struct {
	notify.DeliveryInfo
	Badge    console.Badge
	What     string
	Where    string
	Rule     string // the first one's name, and how many more
	Channel  string
	Path     string // of the channel
	OfReport bool   // an activity report made it
	Held     bool   // quiet hours hold it
}

// Cause is the reason in a row of a list.
func (r deliveryRow) Cause() string { return answer.Brief(r.Reason) }

type deliveryList struct {
	console.List
	Rows []deliveryRow
	Live bool            // the newest are listed
	All  *console.Action // what can be done with all that the filters select
}

// deliveryFilters are the filters of the list, without their choices.
func deliveryFilters() []console.Filter {
	return []console.Filter{
		{Name: "state", Label: "State"}, {Name: "rule", Label: "Rule"}, {Name: "channel", Label: "Channel"},
		{Name: "place", Label: "Repository"}, {Name: "since", Label: "Received"},
	}
}

func filterQuery(form *console.Form) string {
	return console.NewList(deliveriesPath, form, deliveryFilters()).Query
}

// times are how far back the list looks.
var times = []struct {
	value, label string
	back         time.Duration
}{
	{"1h", "last hour", time.Hour}, {"24h", "last 24 hours", 24 * time.Hour}, {"7d", "last 7 days", 7 * 24 * time.Hour},
}

func offeredTimes() []console.Option {
	list := []console.Option{{Label: "Any time"}}
	for _, t := range times {
		list = append(list, console.Option{Value: t.value, Label: t.label})
	}
	return list
}

// filterOf reads the filters; what was not offered is no filter.
func (p *Pages) filterOf(get func(string) string) (notify.DeliveryFilter, *console.Form) {
	f := notify.DeliveryFilter{State: notify.DeliveryState(get("state"))}
	if !slices.Contains(notify.DeliveryStates(), f.State) {
		f.State = ""
	}
	form := console.NewForm().Set("state", string(f.State))
	f.RuleID, _ = strconv.ParseInt(get("rule"), 10, 64)
	f.ChannelID, _ = strconv.ParseInt(get("channel"), 10, 64)
	f.Project, f.Repository, _ = strings.Cut(get("place"), "/")
	for _, t := range times {
		if t.value == get("since") {
			f.Since = p.Clock().Add(-t.back)
			form.Set("since", t.value)
		}
	}
	return f, form.Set("rule", idText(f.RuleID)).Set("channel", idText(f.ChannelID)).Set("place", get("place"))
}

func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func (p *Pages) listDeliveries(r *http.Request) (console.Response, error) {
	list, err := p.deliveryRows(r.Context(), r.URL.Query())
	if err != nil {
		return nil, err
	}
	err = list.Count(len(list.Rows), "delivery", "deliveries", func() (int, bool, error) {
		f, _ := p.filterOf(r.URL.Query().Get)
		return p.Deliveries.Total(r.Context(), f, console.MaxTotal)
	})
	if err != nil {
		return nil, err
	}
	if err := p.offer(r, &list); err != nil {
		return nil, err
	}
	return console.Page{Template: "deliveries", Title: "Deliveries", Data: list}, nil
}

// liveDeliveries follows the newest deliveries of a filter.
func (p *Pages) liveDeliveries(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	q.Del("after")
	live := console.Live{
		Template: "deliveries", Part: "delivery-list",
		Data: func(ctx context.Context) (any, error) { return p.deliveryRows(ctx, q) },
		Version: func(ctx context.Context) (string, error) {
			f, _ := p.filterOf(q.Get)
			f.Limit = pageSize + 1
			return p.Deliveries.Version(ctx, f)
		},
	}
	if _, form := p.filterOf(q.Get); admin.SeesAll(r.Context()) {
		live.Topic = deliveriesPath + filterQuery(form)
	}
	return live, nil
}

// deliveryRows are the deliveries of a page, which the query names.
func (p *Pages) deliveryRows(ctx context.Context, q url.Values) (deliveryList, error) {
	f, form := p.filterOf(q.Get)
	f.Limit = pageSize + 1
	f.Before, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	list := deliveryList{List: console.NewList(deliveriesPath, form, deliveryFilters()), Live: f.Before == 0}
	switch {
	case f.State == notify.Failed || f.State == notify.Cancelled:
		list.All = &console.Action{Label: sendAgain, Path: deliveriesPath + "/" + redelivering.name + list.Query}
	case f.State == notify.Waiting || f.State == notify.Deciding:
		list.All = &console.Action{Label: doNotSend, Path: deliveriesPath + "/" + cancelling.name + list.Query}
	}
	list.Bar = console.Bar{One: "delivery", Many: "deliveries", Actions: []console.BarAction{
		{Value: redelivering.name, Label: sendAgain}, {Value: cancelling.name, Label: doNotSend},
	}}
	found, err := p.Deliveries.List(ctx, f)
	if err != nil {
		return list, err
	}
	found = console.PageOf(&list.List, found, pageSize, list.Live, func(last *notify.DeliveryInfo) []string {
		return []string{"after", idText(last.ID)}
	})
	for _, d := range found {
		list.Rows = append(list.Rows, p.rowOf(d))
	}
	return list, nil
}

// maxOffered is how many channels the filters offer, those in trouble first, and
// how many of their rules and repositories: a longer list is no help in finding one. What is
// not offered can still be asked for by the links of its own page.
const maxOffered = 200

// offer fills the filters' choices: the rules and channels that who asks may
// see, and the repositories of those rules and of the page.
func (p *Pages) offer(r *http.Request, list *deliveryList) error {
	channels, err := p.Channels.List(r.Context(), notify.ChannelPage{Limit: maxOffered, Uncounted: true})
	if err != nil {
		return err
	}
	who := identity.From(r.Context())
	states := []console.Option{{Label: "Every state"}}
	for _, s := range notify.DeliveryStates() {
		states = append(states, console.Option{Value: string(s), Label: string(s)})
	}
	var rules, names, places options
	for i := range channels {
		c := &channels[i]
		names.add(idText(c.ID), c.Name())
		for k := range c.Rules {
			rule := &c.Rules[k]
			if who.May(rule.Access()) {
				rules.add(idText(rule.ID), rule.Name)
				places.place(rule.ProjectKey, rule.RepositoryKey)
			}
		}
	}
	for _, row := range list.Rows {
		if e := row.Event; e != nil {
			places.place(e.Project.Key, e.Repository.Key)
		}
	}
	list.Offer("state", states)
	list.Offer("rule", rules.sorted("Every rule", list.Get("rule")))
	list.Offer("channel", names.sorted("Every channel", list.Get("channel")))
	list.Offer("place", places.sorted("Every repository", list.Get("place")))
	list.Offer("since", offeredTimes())
	return nil
}

// options are choices in the making.
type options struct {
	list []console.Option
	has  map[string]bool // by value
}

// add adds a choice, unless there are maxOffered.
func (o *options) add(value, label string) {
	if len(o.list) < maxOffered {
		o.put(value, label)
	}
}

func (o *options) put(value, label string) {
	if o.has[value] {
		return
	}
	if o.has == nil {
		o.has = map[string]bool{}
	}
	o.has[value] = true
	o.list = append(o.list, console.Option{Value: value, Label: label})
}

func (o *options) place(project, repository string) {
	if project != "" {
		o.add(strings.TrimSuffix(project+"/"+repository, "/"), strings.TrimSuffix(project+" / "+repository, " / "))
	}
}

// sorted returns the choices by their labels, behind the one that asks nothing;
// what is chosen is among them.
func (o *options) sorted(none, chosen string) []console.Option {
	if chosen != "" {
		o.put(chosen, chosen)
	}
	slices.SortFunc(o.list, func(a, b console.Option) int {
		return strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label))
	})
	return append([]console.Option{{Label: none}}, o.list...)
}

func (p *Pages) rowOf(d notify.DeliveryInfo) deliveryRow {
	row := deliveryRow{
		DeliveryInfo: d, Badge: deliveryBadge(d.State), What: "An event that cannot be read", Rule: "a rule that was deleted",
		Channel: d.Channel.Nameless(), Path: channelsPath + "/" + d.Channel.UnderID(), OfReport: d.OfReport(),
	}
	if e := d.Event; e != nil {
		row.What = card.New(e).Title
		row.Where = strings.Trim(e.Project.Key+" / "+e.Repository.Key, "/ ")
		if e.Branch != "" {
			row.Where += " · " + e.Branch
		}
	}
	switch n := len(d.Rules); {
	case n > 0:
		row.Rule = d.Rules[0].Name
		if name := d.Rules[0].Called(); name != "" {
			row.Channel = name
		}
		if n > 1 {
			row.Rule += " and " + strconv.Itoa(n-1) + " more"
		}
	case len(d.Reports) > 0:
		row.Rule = "Report " + d.Reports[0].Name
		if name := d.Reports[0].Called(); name != "" {
			row.Channel = name
		}
	default:
		if d.Users != nil {
			row.Channel = d.Users.Name()
		} else {
			row.Path = "" // nothing uses the channel any more
		}
		if row.OfReport {
			row.Rule = "a report that was deleted"
		}
	}
	if d.State == notify.Waiting && !d.DueAt.IsZero() {
		row.Badge.Text = "waiting, set aside"
	}
	if row.Held = d.Held(p.Clock()); row.Held {
		row.Badge.Text = "waiting, quiet hours"
	}
	return row
}

func deliveryBadge(s notify.DeliveryState) console.Badge {
	tone := console.Busy
	switch s {
	case notify.Delivered:
		tone = console.Good
	case notify.Failed:
		tone = console.Bad
	case notify.Cancelled:
		tone = console.Quiet
	}
	return console.Badge{Tone: tone, Text: string(s)}
}
