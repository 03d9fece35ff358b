package pages

import (
	"context"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// find finds rules and channels by name, deliveries and events by number.
func (p *Pages) find(ctx context.Context, query string) ([]console.Found, error) {
	who := identity.From(ctx)
	if !administersAnything(who) {
		return nil, nil
	}
	found, err := p.findRules(ctx, query)
	if err != nil {
		return nil, err
	}
	channels, err := p.findChannels(ctx, query)
	if err != nil {
		return nil, err
	}
	found = append(found, channels...)
	id, err := strconv.ParseInt(strings.TrimPrefix(query, "#"), 10, 64)
	if err != nil || id <= 0 {
		return found, nil
	}
	numbered, err := p.findNumbered(ctx, id)
	return append(numbered, found...), err
}

func (p *Pages) findRules(ctx context.Context, name string) (found []console.Found, err error) {
	rules, err := p.Rules.Page(ctx, notify.RulePage{Search: name, Limit: console.MaxFound})
	for i := range rules {
		r := &rules[i]
		where := strings.Trim(r.Connection+" / "+r.ProjectKey+" / "+r.RepositoryKey, "/ ")
		found = append(found, console.Found{Kind: "Rule", Label: r.Name, Where: where, Path: p.placeOf(&r.Rule).base() + "/" + idText(r.ID)})
	}
	return found, err
}

func (p *Pages) findChannels(ctx context.Context, name string) (found []console.Found, err error) {
	channels, err := p.Channels.List(ctx, notify.ChannelPage{Limit: maxSearched, Uncounted: true})
	name = strings.ToLower(name)
	for i := range channels {
		c := &channels[i]
		if len(found) < console.MaxFound && strings.Contains(strings.ToLower(c.Name()), name) {
			found = append(found, console.Found{Kind: "Channel", Label: c.Name(), Path: channelPath(c)})
		}
	}
	return found, err
}

// maxSearched is how many channels a search by name looks at, those in trouble first.
const maxSearched = 1_000

// findNumbered finds the delivery and the event of a number. What the reader may not
// see is not there.
func (p *Pages) findNumbered(ctx context.Context, id int64) (found []console.Found, err error) {
	switch d, _, err := p.Deliveries.Get(ctx, id); {
	case err == nil:
		found = append(found, console.Found{Kind: "Delivery", Label: p.rowOf(d).What, Where: "number " + idText(id), Path: deliveriesPath + "/" + idText(id)})
	case !hidden(err):
		return nil, err
	}
	switch x, err := p.Events.Explain(ctx, id, notify.VersionCursor{}, 1); {
	case err == nil:
		label := x.Event.Key
		if of := x.Event.Event; of != nil {
			label = card.New(of).Title
		}
		found = append(found, console.Found{Kind: "Event", Label: label, Where: "number " + idText(id), Path: eventsPath + "/" + idText(id)})
	case !hidden(err):
		return nil, err
	}
	return found, nil
}

func hidden(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) }
