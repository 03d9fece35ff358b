package pages

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/mailqueue"
)

type messageRow struct {
	mailqueue.Message
	Badges []console.Badge
	To     string // the first recipients
	MoreTo int    // how many more there are
}

type messageList struct {
	console.List
	State mailqueue.State
	Rows  []messageRow
	Back  []console.Hidden // what the list shows, to come back to it
}

// messageTabs are the views of the list.
var messageTabs = []struct {
	State mailqueue.State
	Label string
}{{"", "All"}, {mailqueue.Waiting, "Mail queue"}, {mailqueue.Failed, "Error queue"}}

// filterFields are the members of a filter that the form has; state is the tabs.
var filterFields = []string{"node", "sender", "recipient", "subject", "age"}

// messageFilters are the filters of the list, without the nodes.
func messageFilters() []console.Filter {
	return []console.Filter{
		{Name: "subject", Label: "Subject", Search: true}, {Name: "sender", Label: "Sender"},
		{Name: "recipient", Label: "Recipient", Placeholder: "Recipient, or @domain"},
		{Name: "node", Label: "Node"}, {Name: "age", Label: "Older than", Placeholder: "Older than 12h, 3d"},
	}
}

// barOf is what can be done with messages of a queue, or of both.
func barOf(state mailqueue.State) console.Bar {
	bar := console.Bar{One: "message", Many: "messages"}
	if state != mailqueue.Waiting {
		bar.Actions = append(bar.Actions, console.BarAction{Value: "resend", Label: "Resend"})
	}
	if state != mailqueue.Failed {
		bar.Actions = append(bar.Actions, console.BarAction{Value: "flush", Label: "Send now"})
	}
	bar.Actions = append(bar.Actions, console.BarAction{Value: "delete", Label: "Delete"})
	return bar
}

func (p *Pages) listMessages(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	f, err := mailqueue.ParseFilter(q.Get)
	if err != nil {
		return nil, err
	}
	form := console.NewForm()
	for _, name := range filterFields {
		form.Set(name, q.Get(name))
	}
	list := messageList{State: f.State, List: console.NewList(messagesPath, form, messageFilters(), "state", string(f.State))}
	list.Back = list.Kept()
	for _, name := range filterFields {
		if q.Get(name) != "" {
			list.Back = append(list.Back, console.Hidden{Name: name, Value: q.Get(name)})
		}
	}
	list.Bar = barOf(f.State)
	if err := p.fillList(r, &list, f); err != nil {
		return nil, err
	}
	nodes, err := p.nodeOptions(r.Context())
	if err != nil {
		return nil, err
	}
	list.Offer("node", nodes)
	page := console.Page{Template: "mail-messages", Title: "Messages", Data: list}
	for _, t := range messageTabs {
		page.Tabs = append(page.Tabs, console.Tab{
			Label: t.Label, Path: messagesPath + selection(q.Get, "state", string(t.State)), Current: t.State == f.State,
		})
	}
	return page, nil
}

// fillList reads a page of messages.
func (p *Pages) fillList(r *http.Request, list *messageList, f mailqueue.MessageFilter) error {
	get := r.URL.Query().Get
	f.Limit = pageSize + 1
	f.After, _ = strconv.ParseInt(get("after"), 10, 64)
	found, err := p.Relay.Messages(r.Context(), f)
	if err != nil {
		return err
	}
	found = console.PageOf(&list.List, found, pageSize, f.After == 0, func(m *mailqueue.Message) []string {
		return []string{"after", strconv.FormatInt(m.ID, 10)}
	})
	for _, m := range found {
		list.Rows = append(list.Rows, rowOfMessage(m))
	}
	return list.Count(len(found), "message", "messages", func() (int, bool, error) {
		return p.Relay.Total(r.Context(), f, console.MaxTotal)
	})
}

// selection is a filter as a query, with more members of it.
func selection(get func(string) string, more ...string) string {
	for _, name := range filterFields {
		more = append(more, name, get(name))
	}
	return console.Query(more...)
}

func (p *Pages) nodeOptions(ctx context.Context) ([]console.Option, error) {
	queues, err := p.Relay.Queues(ctx)
	if err != nil {
		return nil, err
	}
	options := []console.Option{{Value: "", Label: "Every node"}}
	for _, q := range queues {
		options = append(options, console.Option{Value: q.NodeID, Label: q.NodeID})
	}
	return options, nil
}
