package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
)

const eventsPath = "/rest/mtbs/1.0/configuration/events"

// event is an event of the log as the server lists it.
type event struct {
	ID            int64     `json:"id"`
	ReceivedAt    time.Time `json:"receivedAt"`
	Connection    string    `json:"connection"`
	Hook          string    `json:"hook,omitempty"`
	Key           string    `json:"key"`
	Outcome       string    `json:"outcome"`
	Reason        string    `json:"reason,omitempty"`
	EventTypes    []string  `json:"eventTypes"`
	ProjectKey    string    `json:"projectKey,omitempty"`
	RepositoryKey string    `json:"repositoryKey,omitempty"`
	Branch        string    `json:"branch,omitempty"`
	SourceBranch  string    `json:"sourceBranch,omitempty"`
	User          string    `json:"user,omitempty"`
	Rules         int       `json:"rules"`
	BodySize      int       `json:"bodySize,omitempty"`
}

// place is the project, or the repository, that the event is about.
func (e *event) place() string { return strings.Trim(e.ProjectKey+"/"+e.RepositoryKey, "/") }

type eventsCmd struct {
	askFlags
	Connection string          `help:"Only events of this connection." placeholder:"NAME"`
	Project    string          `help:"Only events of the project with this key." placeholder:"KEY"`
	Repository string          `help:"Only events of this repository. Needs --project." placeholder:"SLUG"`
	Type       string          `help:"Only this event type, such as BRANCH_UPDATED." placeholder:"TYPE"`
	Outcome    string          `help:"Only events with this outcome: taken, not_taken, silent, unknown or not_understood." enum:",taken,not_taken,silent,unknown,not_understood" default:"" placeholder:"OUTCOME"`
	Since      config.Duration `help:"How far back to look, such as 1h or 7d. Default: everything that is kept." placeholder:"TIME"`
	Limit      int             `help:"The most events to list; 0 lists all." default:"100" placeholder:"N"`
}

func (c *eventsCmd) query() url.Values {
	q := url.Values{"limit": {pageSize}}
	for name, value := range map[string]string{
		"connection": c.Connection, "projectKey": c.Project, "repositoryKey": c.Repository, "eventType": c.Type, "outcome": c.Outcome,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
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
	found, err := c.list(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, found)
	}
	rows := make([][]string, len(found))
	for i := range found {
		e := &found[i]
		rows[i] = []string{
			strconv.FormatInt(e.ID, 10), stamp(e.ReceivedAt), e.Outcome, dash(strings.Join(e.EventTypes, ",")), e.Key,
			dash(e.place()), dash(e.Branch), dash(e.User), strconv.Itoa(e.Rules), dash(oneLine(e.Reason)),
		}
	}
	return printRows(s.out, []string{"ID", "RECEIVED", "OUTCOME", "EVENT", "KEY", "REPOSITORY", "BRANCH", "USER", "RULES", "REASON"}, rows)
}

// list asks for pages until there are enough.
func (c *eventsCmd) list(ctx context.Context, server *client) ([]event, error) {
	found, query := []event{}, c.query()
	for {
		if c.Limit > 0 && c.Limit-len(found) < 1000 {
			query.Set("limit", strconv.Itoa(c.Limit-len(found)))
		}
		var page listPage[event]
		if err := server.do(ctx, "GET", eventsPath+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		found = append(found, page.Items...)
		if page.Next == "" || len(found) == c.Limit {
			return found, nil
		}
		query.Set("after", page.Next)
	}
}

// explanation is what the server says about an event and the rules of its moment.
type explanation struct {
	Event  event         `json:"event"`
	Items  []ruleVerdict `json:"items"`
	Next   string        `json:"next,omitempty"`
	Hidden struct {
		Rules int `json:"rules"`
		Taken int `json:"taken"`
	} `json:"hidden"`
	OtherRules int        `json:"otherRules"`
	Deliveries []delivery `json:"deliveries"`
}

// ruleVerdict is a rule as it was, and what it made of the event.
type ruleVerdict struct {
	ID            int64     `json:"id"`
	Version       int64     `json:"version"`
	Name          string    `json:"name"`
	Level         string    `json:"level"`
	ProjectKey    string    `json:"projectKey,omitempty"`
	RepositoryKey string    `json:"repositoryKey,omitempty"`
	Channel       string    `json:"channel"`
	ChannelName   string    `json:"channelName,omitempty"`
	Outcome       string    `json:"outcome"`
	Filter        string    `json:"filter,omitempty"`
	Wants         string    `json:"wants,omitempty"`
	Has           string    `json:"has,omitempty"`
	Note          string    `json:"note,omitempty"`
	Delivery      int64     `json:"delivery,omitempty"`
	ChangedAt     time.Time `json:"changedAt,omitzero"`
	ChangedBy     string    `json:"changedBy,omitempty"`
	Deleted       bool      `json:"deleted,omitempty"`
}

// why says in a line what decided.
func (v *ruleVerdict) why() string {
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
		text = strings.TrimSpace(fmt.Sprintf("%s: the rule %s %s, the event has %s. %s", notify.MemberLabel(v.Filter), verb, wants, cmp.Or(v.Has, "none"), v.Note))
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
	return x.print(s)
}

// ask asks for every page.
func (c explainCmd) ask(ctx context.Context, server *client) (all explanation, err error) {
	query := url.Values{"limit": {pageSize}}
	all.Items, all.Deliveries = []ruleVerdict{}, []delivery{}
	for {
		var page explanation
		if err := server.do(ctx, "GET", fmt.Sprintf("%s/%d/explain?%s", eventsPath, c.ID, query.Encode()), nil, &page); err != nil {
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
		all.Next = ""
	}
}

// print writes the event and its rules for people; lines that are no row of the
// table begin with a #.
func (x *explanation) print(s streams) error {
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
		lines = append(lines, fmt.Sprintf("# rules of other projects and repositories, not listed because they never take events of this one: %d", x.OtherRules))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.out, printable(line)); err != nil {
			return err
		}
	}
	if len(x.Items) == 0 {
		return nil
	}
	states := make(map[int64]string)
	for _, d := range x.Deliveries {
		states[d.ID] = d.standing()
	}
	rows := make([][]string, len(x.Items))
	for i := range x.Items {
		v := &x.Items[i]
		message := "-"
		if v.Delivery != 0 {
			message = strings.TrimSpace(fmt.Sprintf("%d %s", v.Delivery, states[v.Delivery]))
		}
		rows[i] = []string{strconv.FormatInt(v.ID, 10), v.Level, oneLine(v.Name), v.Outcome, v.why(), message}
	}
	return printRows(s.out, []string{"RULE", "LEVEL", "NAME", "OUTCOME", "WHY", "DELIVERY"}, rows)
}
