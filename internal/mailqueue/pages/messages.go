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

func (p *Pages) resendSelected(r *http.Request) (console.Response, error) {
	return p.toSelected(r, p.Relay.ResendAll, "back in the mail queue")
}

func (p *Pages) flushSelected(r *http.Request) (console.Response, error) {
	return p.toSelected(r, p.Relay.Flush, "due now")
}

func (p *Pages) deleteSelected(r *http.Request) (console.Response, error) {
	return p.toSelected(r, p.Relay.DeleteAll, "deleted")
}

// toSelected does something to all that the query selects.
func (p *Pages) toSelected(r *http.Request, do func(context.Context, mailqueue.MessageFilter) (int64, error), outcome string) (console.Response, error) {
	get := r.URL.Query().Get
	f, err := mailqueue.ParseFilter(get)
	if err != nil {
		return nil, err
	}
	n, err := do(r.Context(), f)
	if err != nil {
		return nil, err
	}
	return console.Redirect{To: messagesPath + selection(get, "state", string(f.State)), Flash: mailqueue.MessagesAre(n) + " " + outcome + "."}, nil
}

// confirmDeleteSelected says what the query selects before it is deleted.
func (p *Pages) confirmDeleteSelected(r *http.Request) (console.Response, error) {
	get := r.URL.Query().Get
	f, err := mailqueue.ParseFilter(get)
	if err != nil {
		return nil, err
	}
	listed, err := p.listed(r.Context(), f)
	if err != nil {
		return nil, err
	}
	selected := selection(get, "state", string(f.State))
	c := console.Confirm{
		Title:  "Delete all listed messages?",
		Text:   listed + " listed now; those added before you confirm are deleted too. Recipients who have not received them yet will not get them.",
		Action: messagesPath + "/delete" + selected, Verb: "Delete messages", Back: messagesPath + selected,
	}
	for _, name := range append([]string{"state"}, filterFields...) {
		if value := get(name); value != "" {
			c.Losses = append(c.Losses, "all with "+name+" "+strconv.Quote(value))
		}
	}
	if f.IsEverything() {
		c.Losses = []string{"every message of every node"}
	}
	return c, nil
}

// maxCounted bounds what is read to say how many messages are to be deleted.
const maxCounted = 1000

// listed says how many messages a filter selects, at the start of a sentence.
func (p *Pages) listed(ctx context.Context, f mailqueue.MessageFilter) (string, error) {
	f.Limit = maxCounted + 1
	found, err := p.Relay.Messages(ctx, f)
	if len(found) > maxCounted {
		return "More than 1,000 messages are", err
	}
	return mailqueue.MessagesAre(int64(len(found))), err
}
