package notify

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/work"
)

type deliveryRow struct {
	*Delivery
	Badge   console.Badge
	What    string
	Where   string
	Rule    string // the first one's name, and how many more
	Channel Channel
}

type deliveryList struct {
	*console.Form
	States []console.Option
	Rows   []deliveryRow
	Pager  console.Pager
}

func (p *Pages) listDeliveries(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	f := DeliveryFilter{State: DeliveryState(q.Get("state")), Limit: pageSize + 1}
	f.RuleID, _ = strconv.ParseInt(q.Get("rule"), 10, 64)
	f.ChannelID, _ = strconv.ParseInt(q.Get("channel"), 10, 64)
	f.Before, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	if !slices.Contains(DeliveryStates(), f.State) {
		f.State = ""
	}
	found, err := p.visible(r.Context(), f)
	if err != nil {
		return nil, err
	}
	list := deliveryList{
		Form:   console.NewForm().Set("rule", q.Get("rule")).Set("channel", q.Get("channel")).Set("state", string(f.State)),
		States: []console.Option{{Value: "", Label: "every state"}},
	}
	for _, s := range DeliveryStates() {
		list.States = append(list.States, console.Option{Value: string(s), Label: string(s)})
	}
	keep := []string{"rule", q.Get("rule"), "channel", q.Get("channel"), "state", string(f.State)}
	if len(found) > pageSize {
		found = found[:pageSize]
		list.Pager.Next = deliveriesPath + query(append(keep, "after", strconv.FormatInt(found[pageSize-1].ID, 10))...)
	}
	if f.Before != 0 {
		list.Pager.First = deliveriesPath + query(keep...)
	}
	channels, err := p.Store.Channels(r.Context(), found)
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		row := rowOfDelivery(d, channels[d.ChannelID])
		row.Rule = p.Store.Rules().name(d.Rules)
		list.Rows = append(list.Rows, row)
	}
	return console.Page{Template: "deliveries", Title: "Deliveries", Data: list}, nil
}

// maxPassedOver bounds how many deliveries of others one page reads for
// somebody who sees few of them.
const maxPassedOver = 5000

// visible lists the deliveries that who asks may see.
func (p *Pages) visible(ctx context.Context, f DeliveryFilter) ([]*Delivery, error) {
	who := identity.From(ctx)
	var out []*Delivery
	want := f.Limit
	for passed := 0; len(out) < want && passed < maxPassedOver; {
		found, err := p.Store.ListDeliveries(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if mayLook(who, d) && len(out) < want {
				out = append(out, d)
			} else {
				passed++
			}
			f.Before = d.ID
		}
		if len(found) < f.Limit {
			break
		}
	}
	return out, nil
}

func rowOfDelivery(d *Delivery, c Channel) deliveryRow {
	row := deliveryRow{Delivery: d, Channel: c, Badge: deliveryBadge(d.State)}
	if e := d.Event; e != nil {
		row.What = e.Types[0].Name()
		row.Where = strings.Trim(e.Project.Key+" / "+e.Repository.Key, "/ ")
		if e.Branch != "" {
			row.Where += " · " + e.Branch
		}
	} else {
		row.What = "An event that cannot be read"
	}
	return row
}

func deliveryBadge(s DeliveryState) console.Badge {
	tone := console.Busy
	switch s {
	case Delivered:
		tone = console.Good
	case Failed:
		tone = console.Bad
	case Cancelled:
		tone = console.Quiet
	}
	return console.Badge{Tone: tone, Text: string(s)}
}

type deliveryView struct {
	deliveryRow
	Attempts []work.Attempt
	Rules    []RuleInfo
	Standing Standing
}

func (p *Pages) showDelivery(r *http.Request) (console.Response, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such delivery.")
	}
	d, attempts, err := p.Store.Delivery(r.Context(), id)
	if fault.Is(err, fault.NotFound) || (err == nil && !mayLook(identity.From(r.Context()), d)) {
		return nil, rest.Missing(r.Context(), "There is no delivery with id %d.", id)
	}
	if err != nil {
		return nil, err
	}
	channels, err := p.Store.Channels(r.Context(), []*Delivery{d})
	if err != nil {
		return nil, err
	}
	c := channels[d.ChannelID]
	view := deliveryView{deliveryRow: rowOfDelivery(d, c), Attempts: attempts, Standing: c.Standing(p.Clock())}
	for _, rule := range d.Rules {
		info, err := p.Store.Rule(r.Context(), rule)
		if err == nil && identity.From(r.Context()).May(info.Access()) {
			view.Rules = append(view.Rules, info)
		}
	}
	return console.Page{
		Template: "delivery", Title: "Delivery " + strconv.FormatInt(d.ID, 10), Data: view,
		Up: []console.Link{{Label: "Deliveries", Path: deliveriesPath}},
	}, nil
}

// overview is the wing's card: the last 24 h, and what is broken.
func (p *Pages) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !who.May(identity.Admin, identity.Where{}) {
		return nil, nil
	}
	sum, err := p.Store.Summary(ctx, p.Clock().Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	card := console.Card{Title: "Chat notifications", Link: deliveriesPath, Figures: []console.Figure{
		{Label: "delivered in 24 h", Value: strconv.Itoa(sum.Delivered)},
		{Label: "waiting", Value: strconv.Itoa(sum.Waiting)},
		{Label: "failed in 24 h", Value: strconv.Itoa(sum.Failed), Tone: toneIf(sum.Failed > 0, console.Bad)},
		{Label: "broken channels", Value: strconv.Itoa(len(sum.Broken)), Tone: toneIf(len(sum.Broken) > 0, console.Bad)},
	}}
	for _, b := range sum.Broken {
		card.Attention = append(card.Attention, console.Notice{
			Text: "The channel of " + b.Rules + " is broken: " + b.Reason, Link: rulesPath + "/" + strconv.FormatInt(b.RuleID, 10), Tone: console.Bad,
		})
	}
	if sum.NotUnderstood > 0 {
		card.Attention = append(card.Attention, console.Notice{
			Text: strconv.Itoa(sum.NotUnderstood) + " webhooks of the last 24 h were not understood; they are kept with their bodies.", Tone: console.Warn,
		})
	}
	return []console.Card{card}, nil
}

func toneIf(on bool, t console.Tone) console.Tone {
	if on {
		return t
	}
	return ""
}
