package pages

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

const (
	// maxSearched is how many of the newest events are searched by what is said of them.
	maxSearched = 500
	// minName is how many letters they are searched for.
	minName = 3
)

// find finds rules, channels and reports by name, events and their deliveries by what
// is said of them, and each of these by number.
func (p *Pages) find(ctx context.Context, query string) ([]console.Found, error) {
	if !administersAnything(identity.From(ctx)) {
		return nil, nil
	}
	finders := []func(context.Context, string) ([]console.Found, error){p.findRules, p.findChannels, p.findReports, p.findEvents}
	if id, err := strconv.ParseInt(strings.TrimPrefix(query, "#"), 10, 64); err == nil && id > 0 {
		finders = append([]func(context.Context, string) ([]console.Found, error){p.findNumbered}, finders...)
		query = idText(id)
	}
	var all []console.Found
	for _, find := range finders {
		found, err := find(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.ContainsFunc(all, func(other console.Found) bool { return other.Path == f.Path }) {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

func (p *Pages) findRules(ctx context.Context, name string) (found []console.Found, err error) {
	rules, err := p.Rules.Page(ctx, notify.RulePage{Search: name, Limit: console.MaxFound})
	for i := range rules {
		found = append(found, p.foundRule(&rules[i], ""))
	}
	return found, err
}

func (p *Pages) foundRule(r *notify.RuleInfo, where string) console.Found {
	if where == "" {
		where = strings.Trim(r.Connection+" / "+r.ProjectKey+" / "+r.RepositoryKey, "/ ")
	}
	return console.Found{Kind: "Rule", Label: r.Name, Where: where, Path: p.placeOf(&r.Rule).base() + "/" + idText(r.ID)}
}

func (p *Pages) findChannels(ctx context.Context, name string) (found []console.Found, err error) {
	channels, err := p.Channels.List(ctx, notify.ChannelPage{Search: name, Limit: console.MaxFound, Uncounted: true})
	for i := range channels {
		found = append(found, console.Found{Kind: "Channel", Label: channels[i].Name(), Path: channelPath(&channels[i])})
	}
	return found, err
}

func (p *Pages) findReports(ctx context.Context, name string) (found []console.Found, err error) {
	reports, err := p.Reports.Page(ctx, notify.ReportPage{Search: name, Limit: console.MaxFound})
	for i := range reports {
		r := &reports[i]
		found = append(found, console.Found{Kind: "Report", Label: r.Name, Where: r.ProjectKey + " / " + r.RepositoryKey, Path: reportPath(r)})
	}
	return found, err
}

// findEvents finds events of which all words are said, and the first delivery of each.
func (p *Pages) findEvents(ctx context.Context, text string) (found []console.Found, err error) {
	if utf8.RuneCountInString(text) < minName {
		return nil, nil
	}
	words := strings.Fields(notify.Fold(text))
	page, err := p.Events.List(ctx, notify.EventFilter{Understood: true, Limit: maxSearched})
	for i := 0; i < len(page.Events) && len(found) < console.MaxFound; i++ {
		row := eventRowOf(page.Events[i])
		if !hasAll(notify.Fold(row.What+" "+row.Where), words) {
			continue
		}
		found = append(found, console.Found{Kind: "Event", Label: row.What, Where: "number " + idText(row.ID), Path: row.Path})
		if row.FirstDelivery == 0 {
			continue
		}
		delivery, err := p.findDelivery(ctx, row.FirstDelivery)
		if err != nil {
			return nil, err
		}
		found = append(found, delivery...)
	}
	return found, err
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (p *Pages) findDelivery(ctx context.Context, id int64) ([]console.Found, error) {
	d, _, err := p.Deliveries.Get(ctx, id)
	if err != nil {
		return nil, unlessHidden(err)
	}
	return []console.Found{{Kind: "Delivery", Label: p.rowOf(d).What, Where: "number " + idText(id),
		Path: deliveriesPath + "/" + idText(id)}}, nil
}

// findNumbered finds what has a number. What the reader may not see is not there.
func (p *Pages) findNumbered(ctx context.Context, number string) (found []console.Found, err error) {
	id, _ := strconv.ParseInt(number, 10, 64)
	where := "number " + number
	if found, err = p.findDelivery(ctx, id); err != nil {
		return nil, err
	}
	x, err := p.Events.Explain(ctx, id, notify.VersionCursor{}, 1)
	if err == nil {
		row := eventRowOf(x.Event)
		found = append(found, console.Found{Kind: "Event", Label: row.What, Where: where, Path: row.Path})
	} else if err = unlessHidden(err); err != nil {
		return nil, err
	}
	rule, err := p.Rules.Get(ctx, id)
	if err == nil {
		found = append(found, p.foundRule(&rule, where))
	} else if err = unlessHidden(err); err != nil {
		return nil, err
	}
	channel, err := p.Channels.Get(ctx, number)
	if err == nil {
		found = append(found, console.Found{Kind: "Channel", Label: channel.Name(), Where: where, Path: channelPath(&channel)})
	} else if err = unlessHidden(err); err != nil {
		return nil, err
	}
	report, err := p.Reports.Get(ctx, id)
	if err == nil {
		found = append(found, console.Found{Kind: "Report", Label: report.Name, Where: where, Path: reportPath(&report)})
	}
	return found, unlessHidden(err)
}

// unlessHidden is an error, but for that of what is not there for the reader.
func unlessHidden(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
		return nil
	}
	return err
}
