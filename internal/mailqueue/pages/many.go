package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// action is what is done to many messages at once.
type action struct {
	name     string          // in addresses and forms
	of       mailqueue.State // what it is about; "" is both queues
	do       func(mailqueue.Relay, context.Context, mailqueue.MessageFilter) (int64, error)
	ask      string // before the number
	askAfter string // and behind it
	keep     string // what the way out says
	text     string
	outcome  string // after "26 messages are"
}

var (
	resending = &action{"resend", mailqueue.Failed, mailqueue.Relay.ResendAll, "Resend ", "?", "Do not resend",
		"They go back into the mail queue and are tried at once; their send count starts again.", "back in the mail queue"}
	flushing = &action{"flush", mailqueue.Waiting, mailqueue.Relay.Flush, "Send ", " now?", "Keep waiting",
		"They are due now instead of at their next try. A pause after failures ends.", "due now"}
	deleting = &action{"delete", "", mailqueue.Relay.DeleteAll, "Delete ", "?", "Do not delete",
		"Recipients who have not received them yet will not get them.", "deleted"}

	actions = []*action{resending, flushing, deleting}
)

// all is everything that an action is to be done to, and where its question is.
type all struct {
	*action
	filter mailqueue.MessageFilter
	path   string           // where it is posted
	form   []console.Hidden // what is posted
	back   string
	which  string // a sentence about what the filter selects; "" where the page shows it
	ticked int    // how many were ticked in the list; 0: it is about all that the filter selects
}

// question asks with the number. The answer brings it back with the time of the
// question, so that what comes later is left alone.
func (p *Pages) question(ctx context.Context, a all) (console.Response, error) {
	c, n, err := p.confirm(ctx, a)
	if err != nil || n > 0 {
		return c, err
	}
	return console.Redirect{To: a.back, Flash: "There is nothing to " + a.name + ".", Tone: console.Warn}, nil
}

func (p *Pages) confirm(ctx context.Context, a all) (c console.Confirm, n int64, _ error) {
	filter := a.filter
	if a.of != "" {
		filter = filter.In(a.of)
	}
	n, at, err := p.Relay.Count(ctx, filter)
	c = console.Confirm{
		Title:  a.ask + console.Counted(n, "message", "messages") + a.askAfter,
		Text:   strings.TrimSpace(a.which+" "+a.text) + " Messages that arrive later are not affected.",
		Action: a.path, Back: a.back, Verb: a.ask + console.Counted(n, "message", "messages"), Keep: a.keep, Harmless: a.action != deleting,
		Form: append(a.form, console.Asked{At: at, Count: n}.Hidden()...),
	}
	if skipped := int64(a.ticked) - n; a.ticked > 0 && skipped > 0 {
		c.Text += " " + a.skips(skipped)
	}
	return c, n, err
}

// skips says why the action leaves ticked messages alone.
func (a *action) skips(n int64) string {
	switch a.of {
	case mailqueue.Failed:
		return console.Counted(n, "message is", "messages are") + " left as before: not in the error queue."
	case mailqueue.Waiting:
		return console.Counted(n, "message is", "messages are") + " left as before: not in the mail queue."
	}
	return console.Counted(n, "message is", "messages are") + " no longer there."
}

// act does what was posted, after it has asked: where it is about more than one
// message, or about deleting.
func (p *Pages) act(r *http.Request, form *console.Form, a all) (console.Response, error) {
	asked, err := form.Asked()
	if err != nil {
		return nil, err
	}
	if asked.At.IsZero() {
		c, n, err := p.confirm(r.Context(), a)
		if err != nil || n > 1 || n == 1 && a.action == deleting {
			return c, err
		}
	}
	a.filter.AsOf, a.filter.Count = asked.At, asked.Count
	n, err := a.do(p.Relay, r.Context(), a.filter)
	if fault.Is(err, fault.Conflict) {
		return console.Redirect{To: a.back, Flash: fault.As(err).Message, Tone: console.Warn}, nil
	}
	if err != nil {
		return nil, err
	}
	to := console.Redirect{To: a.back, Flash: console.Counted(n, "message is", "messages are") + " " + a.outcome + "."}
	switch left := max(a.filter.Count, int64(a.ticked)) - n; {
	case left <= 0:
	case a.ticked > 0 && a.filter.Count <= n:
		to.Flash, to.Tone = to.Flash+" "+a.skips(left), console.Warn
	default:
		to.Flash += " " + console.Counted(left, "message is", "messages are") + " left as before, or gone: changed since the question."
		to.Tone = console.Warn
	}
	return to, nil
}

// ofQueue is about a node's queue, as the page of the queues lists it.
func ofQueue(a *action, node string) all {
	return all{action: a, filter: mailqueue.MessageFilter{NodeID: node}, path: queuesPath + "/" + a.name,
		form: []console.Hidden{{Name: "node", Value: node}}, back: queuesPath}
}

func (p *Pages) askQueue(a *action) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		return p.question(r.Context(), ofQueue(a, r.URL.Query().Get("node")))
	}
}

func (p *Pages) actOnQueue(a *action) console.Handler {
	return console.WithForm(func(r *http.Request, form *console.Form) (console.Response, error) {
		return p.act(r, form, ofQueue(a, form.Get("node")))
	})
}

// ofList is about all that the query selects.
func ofList(a *action, r *http.Request) (all, error) {
	get := r.URL.Query().Get
	f, err := mailqueue.ParseFilter(get)
	selected := selection(get, "state", string(f.State))
	it := all{action: a, filter: f, path: messagesPath + "/" + a.name + selected, back: messagesPath + selected,
		which: "These are messages of every node."}
	var asks []string
	for _, name := range filterFields {
		if value := get(name); value != "" {
			asks = append(asks, name+" “"+value+"”")
		}
	}
	in := map[mailqueue.State]string{mailqueue.Waiting: " in the mail queue", mailqueue.Failed: " in the error queue"}[f.State]
	if len(asks) > 0 {
		in += " with " + strings.Join(asks, ", ")
	}
	if in != "" {
		it.which = "These are all" + in + "."
	}
	return it, err
}

func (p *Pages) askList(a *action) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		it, err := ofList(a, r)
		if err != nil {
			return nil, err
		}
		return p.question(r.Context(), it)
	}
}

func (p *Pages) actOnList(a *action) console.Handler {
	return console.WithForm(func(r *http.Request, form *console.Form) (console.Response, error) {
		it, err := ofList(a, r)
		if err != nil {
			return nil, err
		}
		return p.act(r, form, it)
	})
}

// actOnTicked does something with the messages that are ticked in the list, and
// goes back to it.
func (p *Pages) actOnTicked(r *http.Request, form *console.Form) (console.Response, error) {
	back := messagesPath + selection(form.Get, "state", form.Get("state"))
	ids, err := ticked(form)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return console.Redirect{To: back, Flash: "Select messages first.", Tone: console.Warn}, nil
	}
	i := slices.IndexFunc(actions, func(a *action) bool { return a.name == form.Get("do") })
	if i < 0 {
		return nil, fault.New(fault.Invalid, "Choose what to do with the messages: resend, flush or delete.")
	}
	it := all{action: actions[i], filter: mailqueue.MessageFilter{IDs: ids}, path: messagesPath + "/selected", back: back, ticked: len(ids)}
	for _, name := range append([]string{"do", "state"}, filterFields...) {
		if value := form.Get(name); value != "" {
			it.form = append(it.form, console.Hidden{Name: name, Value: value})
		}
	}
	for _, id := range form.All("id") {
		it.form = append(it.form, console.Hidden{Name: "id", Value: id})
	}
	return p.act(r, form, it)
}

// ticked are the ids of a form, at most a page of the list.
func ticked(form *console.Form) (ids []int64, err error) {
	for _, text := range form.All("id") {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || len(ids) == pageSize {
			return nil, fault.New(fault.Invalid, "Select up to %d messages of the list.", pageSize)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
