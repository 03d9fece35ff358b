package mailqueue

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
)

type messageRow struct {
	Message
	Badges []console.Badge
	To     string // the recipients, cut after some
}

type messageList struct {
	*console.Form
	State State
	Rows  []messageRow
	Pager console.Pager
	Nodes []console.Option
}

// messageTabs are the views of the list.
var messageTabs = []struct {
	State State
	Label string
}{{"", "All"}, {Waiting, "Mail queue"}, {Failed, "Error queue"}}

func (p *Pages) listMessages(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	f := MessageFilter{NodeID: q.Get("node"), State: State(q.Get("state")), Limit: pageSize + 1}
	if f.State != Waiting && f.State != Failed {
		f.State = ""
	}
	f.After, _ = strconv.ParseInt(q.Get("after"), 10, 64)
	found, err := p.Relay.Messages(r.Context(), f)
	if err != nil {
		return nil, err
	}
	list := messageList{Form: console.NewForm().Set("node", f.NodeID), State: f.State}
	if list.Nodes, err = p.nodeOptions(r.Context()); err != nil {
		return nil, err
	}
	keep := []string{"node", f.NodeID, "state", string(f.State)}
	if len(found) > pageSize {
		found = found[:pageSize]
		list.Pager.Next = messagesPath + query(append(keep, "after", strconv.FormatInt(found[pageSize-1].ID, 10))...)
	}
	if f.After != 0 {
		list.Pager.First = messagesPath + query(keep...)
	}
	for _, m := range found {
		list.Rows = append(list.Rows, rowOfMessage(m))
	}
	page := console.Page{Template: "mail-messages", Title: "Messages", Data: list}
	for _, t := range messageTabs {
		page.Tabs = append(page.Tabs, console.Tab{
			Label: t.Label, Path: messagesPath + query("node", f.NodeID, "state", string(t.State)), Current: t.State == f.State,
		})
	}
	return page, nil
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

// shownRecipients is how many recipients a row names.
const shownRecipients = 3

func rowOfMessage(m Message) messageRow {
	row := messageRow{Message: m}
	for _, s := range m.States() {
		row.Badges = append(row.Badges, recipientBadge(s))
	}
	var names []string
	for _, r := range m.Recipients[:min(len(m.Recipients), shownRecipients)] {
		names = append(names, r.Address)
	}
	row.To = strings.Join(names, ", ")
	if more := len(m.Recipients) - len(names); more > 0 {
		row.To += " and " + strconv.Itoa(more) + " more"
	}
	return row
}

func recipientBadge(s State) console.Badge {
	switch s {
	case Failed:
		return console.Badge{Tone: console.Bad, Text: "error"}
	case Sent:
		return console.Badge{Tone: console.Good, Text: "sent"}
	}
	return console.Badge{Tone: console.Busy, Text: "waiting"}
}

type recipientRow struct {
	Recipient
	Badge console.Badge
}

type messageView struct {
	messageRow
	Recipients []recipientRow
	Attempts   []Attempt
	Resend     bool // some recipient failed
}

func (p *Pages) showMessage(r *http.Request) (console.Response, error) {
	m, attempts, err := p.message(r)
	if err != nil {
		return nil, err
	}
	view := messageView{messageRow: rowOfMessage(m), Attempts: attempts}
	for _, recipient := range m.Recipients {
		view.Recipients = append(view.Recipients, recipientRow{recipient, recipientBadge(recipient.State)})
		view.Resend = view.Resend || recipient.State == Failed
	}
	return console.Page{
		Template: "mail-message", Title: titleOf(m), Data: view,
		Up: []console.Link{{Label: "Messages", Path: messagesPath}},
	}, nil
}

func titleOf(m Message) string {
	if m.Subject == "" {
		return "Message " + strconv.FormatInt(m.ID, 10)
	}
	return m.Subject
}

// message finds the message that a page is about.
func (p *Pages) message(r *http.Request) (Message, []Attempt, error) {
	id, err := pathID(r)
	if err != nil {
		return Message{}, nil, err
	}
	m, attempts, err := p.Relay.Message(r.Context(), id)
	return m, attempts, foreign(r.Context(), err)
}

// shownContent is how much of a message a page shows; the rest is for a mail
// program.
const shownContent = 256 << 10

type contentView struct {
	ID   int64
	Text string
	Left int // bytes that are not shown
}

// look shows the bytes of a message as text. The relay records who looked.
func (p *Pages) look(r *http.Request) (console.Response, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	content, err := p.Relay.Look(r.Context(), id)
	if err != nil {
		return nil, foreign(r.Context(), err)
	}
	shown := content[:min(len(content), shownContent)]
	text := strings.ReplaceAll(strings.ToValidUTF8(string(shown), "\uFFFD"), "\r\n", "\n")
	return console.Page{
		Template: "mail-content", Title: "Content of message " + strconv.FormatInt(id, 10),
		Data: contentView{id, text, len(content) - len(shown)},
		Up: []console.Link{
			{Label: "Messages", Path: messagesPath}, {Label: "Message " + strconv.FormatInt(id, 10), Path: messagePath(id)},
		},
	}, nil
}

func messagePath(id int64) string { return messagesPath + "/" + strconv.FormatInt(id, 10) }

func (p *Pages) resend(r *http.Request) (console.Response, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	if err := p.Relay.Resend(r.Context(), id); err != nil {
		return nil, foreign(r.Context(), err)
	}
	return console.Redirect{To: messagePath(id), Flash: "The message is back in the mail queue."}, nil
}

func (p *Pages) confirmDelete(r *http.Request) (console.Response, error) {
	m, _, err := p.message(r)
	if err != nil {
		return nil, err
	}
	waiting := 0
	for _, recipient := range m.Recipients {
		if recipient.State != Sent {
			waiting++
		}
	}
	return console.Confirm{
		Title: "Delete the message " + strconv.Quote(titleOf(m)) + "?", Text: "It will not be sent to whoever has not got it yet.",
		Losses: []string{"the message and its attempts", strconv.Itoa(waiting) + " of " + strconv.Itoa(len(m.Recipients)) + " recipients who have not got it"},
		Verb:   "Delete message", Back: messagePath(m.ID),
	}, nil
}

func (p *Pages) delete(r *http.Request) (console.Response, error) {
	id, err := pathID(r)
	if err != nil {
		return nil, err
	}
	// Somebody else may have deleted it, or it was sent: it is gone.
	if err := p.Relay.Delete(r.Context(), id); err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	return console.Redirect{To: messagesPath, Flash: "The message is deleted."}, nil
}
