package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/notify/api"
	"outrigger/internal/phrase"
)

// place is the project, or the repository, that an event is about.
func place(e *api.Event) string { return strings.Trim(e.ProjectKey+"/"+e.RepositoryKey, "/") }

// typeKeys are the keys of event types.
func typeKeys(types []notify.EventType) string {
	return strings.Join(notify.TypeKeys(types), ",")
}

type eventsCmd struct {
	askFlags
	Connection string          `help:"Only events of this connection." placeholder:"NAME"`
	Project    string          `help:"Only events of the project with this key." placeholder:"KEY"`
	Repository string          `help:"Only events of this repository. Needs --project." placeholder:"SLUG"`
	Type       string          `help:"Only this event type, such as BRANCH_UPDATED." placeholder:"TYPE"`
	Outcome    string          `help:"${outcome}" enum:",taken,not_taken,silent,unknown,not_understood" default:"" placeholder:"OUTCOME"`
	Since      config.Duration `help:"How far back to look, such as 1h or 7d. Default: everything that is kept." placeholder:"TIME"`
	Limit      int             `help:"The most events to list; 0 lists all." default:"100" placeholder:"N"`
}

func (c *eventsCmd) query() url.Values {
	q := queryOf(map[string]string{
		"connection": c.Connection, "projectKey": c.Project, "repositoryKey": c.Repository, "eventType": c.Type, "outcome": c.Outcome,
	})
	setSince(q, c.Since)
	return q
}

func (c eventsCmd) Run(ctx context.Context, s streams) error {
	if c.Limit < 0 {
		return usage("--limit must be 0 or more")
	}
	server, err := c.client()
	if err != nil {
		return err
	}
	found, err := listTo[api.Event](ctx, server, api.EventsPath, c.query(), cmp.Or(c.Limit, math.MaxInt))
	if err != nil {
		return err
	}
	header := []string{"ID", "RECEIVED", "OUTCOME", "EVENT", "KEY", "REPOSITORY", "BRANCH", "USER", "RULES", "REASON"}
	return printList(s, c.JSON, found, header, func(e *api.Event) []string {
		return []string{
			strconv.FormatInt(e.ID, 10), stamp(e.ReceivedAt), string(e.Outcome), dash(typeKeys(e.EventTypes)), e.Key,
			dash(place(e)), dash(e.Branch), dash(e.User), strconv.Itoa(e.Rules), dash(oneLine(e.Reason)),
		}
	})
}

// whyVerdict says in a line what decided.
func whyVerdict(v *api.RuleVerdict) string {
	text := v.Note
	switch {
	case v.Filter != "" && v.Wants == "" && v.Has == "":
		text = notify.MemberLabel(v.Filter) + ": " + v.Note
	case v.Filter != "":
		verb := "wants"
		wants, excluded := notify.Reason{Member: v.Filter, Wants: v.Wants}.Excluded()
		if excluded {
			verb = "excludes"
		}
		text = strings.TrimSpace(fmt.Sprintf("%s: the rule %s %s, the event has %s. %s", notify.MemberLabel(v.Filter), verb, wants,
			cmp.Or(v.Has, "none"), v.Note))
	}
	return dash(oneLine(text))
}

type explainCmd struct {
	askFlags
	ID int64 `arg:"" help:"The event's id, from notify events."`
}

func (c explainCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	x, err := c.ask(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, x)
	}
	return printExplanation(s, &x)
}

// ask returns the explanation with the rules and deliveries of every page.
func (c explainCmd) ask(ctx context.Context, server *client) (all api.Explanation, err error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	all.Items, all.Deliveries = []api.RuleVerdict{}, []api.Delivery{}
	for {
		var page api.Explanation
		if err := server.do(ctx, "GET", fmt.Sprintf("%s/%d/explain?%s", api.EventsPath, c.ID, query.Encode()), nil, &page); err != nil {
			return all, err
		}
		page.Items, page.Deliveries = append(all.Items, page.Items...), append(all.Deliveries, page.Deliveries...)
		page.Hidden.Rules += all.Hidden.Rules
		page.Hidden.Taken += all.Hidden.Taken
		all = page
		if all.Next == "" {
			return all, nil
		}
		query.Set("after", all.Next)
	}
}

// printExplanation writes the event and its rules for people; lines that are no row of the
// table begin with a #.
func printExplanation(s streams, x *api.Explanation) error {
	e := &x.Event
	lines := []string{fmt.Sprintf("# event %d, %s, %s: %s", e.ID, stamp(e.ReceivedAt), e.Key, e.Outcome)}
	if e.Reason != "" {
		lines = append(lines, "# "+oneLine(e.Reason))
	}
	if len(x.Items)+x.Hidden.Rules+x.OtherRules == 0 && len(e.EventTypes) > 0 {
		lines = append(lines, "# there were no rules yet")
	}
	if x.Hidden.Rules > 0 {
		lines = append(lines, fmt.Sprintf("# rules that you do not administer: %d, of which %d took it", x.Hidden.Rules, x.Hidden.Taken))
	}
	if x.OtherRules > 0 {
		lines = append(lines, "# rules of other projects and repositories, not listed because they never take events of this one: "+
			strconv.Itoa(x.OtherRules))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.out, phrase.Line(line)); err != nil {
			return err
		}
	}
	if len(x.Items) == 0 {
		return nil
	}
	states := make(map[int64]string)
	for _, d := range x.Deliveries {
		states[d.ID] = standing(&d)
	}
	rows := make([][]string, len(x.Items))
	for i := range x.Items {
		v := &x.Items[i]
		message := "-"
		if v.Delivery != 0 {
			message = strings.TrimSpace(fmt.Sprintf("%d %s", v.Delivery, states[v.Delivery]))
		}
		rows[i] = []string{strconv.FormatInt(v.ID, 10), string(v.Level), oneLine(v.Name), string(v.Outcome), whyVerdict(v), message}
	}
	return printRows(s.out, []string{"RULE", "LEVEL", "NAME", "OUTCOME", "WHY", "DELIVERY"}, rows)
}

type refusedCmd struct {
	askFlags
	Connection string `help:"Only webhooks of this connection." placeholder:"NAME"`
}

func (c refusedCmd) Run(ctx context.Context, s streams) error {
	query := queryOf(map[string]string{"connection": c.Connection})
	header := []string{"CONNECTION", "HOOK", "REASON", "IN 24 H", "LAST", "FROM", "ANSWER", "WHAT HELPS"}
	return printAll(ctx, s, c.askFlags, api.RefusedPath, query, header, func(r *api.RefusedWebhooks) []string {
		return []string{r.Connection, dash(r.Hook), string(r.Reason), strconv.Itoa(r.Count), stamp(r.LastAt), r.LastBy,
			r.Message, r.Advice}
	})
}
