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
	To     string // the recipients, cut after some
}

type messageList struct {
	*console.Form
	State    mailqueue.State
	Rows     []messageRow
	Selected string // the filter as a query: what "these" are
	Pager    console.Pager
	Nodes    []console.Option
	Filter   []console.Hidden // what the list shows, to come back to it
}

// messageTabs are the views of the list.
var messageTabs = []struct {
	State mailqueue.State
	Label string
}{{"", "All"}, {mailqueue.Waiting, "Mail queue"}, {mailqueue.Failed, "Error queue"}}

// filterFields are the members of a filter that the form has; state is the tabs.
var filterFields = []string{"node", "sender", "recipient", "subject", "age"}

func (p *Pages) listMessages(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	f, err := mailqueue.ParseFilter(q.Get)
	if err != nil {
		return nil, err
	}
	list := messageList{Form: console.NewForm(), State: f.State}
	for _, name := range filterFields {
		list.Set(name, q.Get(name))
		if q.Get(name) != "" {
			list.Filter = append(list.Filter, console.Hidden{Name: name, Value: q.Get(name)})
		}
	}
	if f.State != "" {
		list.Filter = append(list.Filter, console.Hidden{Name: "state", Value: string(f.State)})
	}
	if err := p.fillList(r, &list, f); err != nil {
		return nil, err
	}
	if list.Nodes, err = p.nodeOptions(r.Context()); err != nil {
		return nil, err
	}
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
	list.Selected = selection(get, "state", string(f.State))
	if len(found) > pageSize {
		found = found[:pageSize]
		list.Pager.Next = messagesPath + selection(get, "state", string(f.State), "after", strconv.FormatInt(found[pageSize-1].ID, 10))
	}
	if f.After != 0 {
		list.Pager.First = messagesPath + list.Selected
	}
	for _, m := range found {
		list.Rows = append(list.Rows, rowOfMessage(m))
	}
	return nil
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
	options := []console.Option{{Value: "", Label: "every node"}}
	for _, q := range queues {
		options = append(options, console.Option{Value: q.NodeID, Label: q.NodeID})
	}
	return options, nil
}
