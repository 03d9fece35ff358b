package pages

import (
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// actOnTicked does something with the messages that are ticked in the list, and
// goes back to it. Deleting asks first.
func (p *Pages) actOnTicked(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	back := messagesPath + selection(form.Get, "state", form.Get("state"))
	ids, err := ticked(form)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return console.Redirect{To: back, Flash: "Select messages first.", Tone: console.Warn}, nil
	}
	f := mailqueue.MessageFilter{IDs: ids}
	do, outcome := p.Relay.ResendAll, "back in the mail queue"
	switch form.Get("do") {
	case "resend":
	case "flush":
		do, outcome = p.Relay.Flush, "due now"
	case "delete":
		if !form.Bool("sure") {
			return confirmDeleteTicked(form, len(ids), back), nil
		}
		do, outcome = p.Relay.DeleteAll, "deleted"
	default:
		return nil, fault.New(fault.Invalid, "Choose what to do with the messages: resend, flush or delete.")
	}
	n, err := do(r.Context(), f)
	if err != nil {
		return nil, err
	}
	to := console.Redirect{To: back, Flash: mailqueue.MessagesAre(n) + " " + outcome + "."}
	if left := int64(len(ids)) - n; left > 0 {
		to.Flash, to.Tone = to.Flash+" "+mailqueue.MessagesAre(left)+" left as before: the action does not apply.", console.Warn
	}
	return to, nil
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

func confirmDeleteTicked(form *console.Form, n int, back string) console.Confirm {
	c := console.Confirm{
		Title: "Delete the selected messages?", Text: "Recipients who have not received them yet will not get them.",
		Losses: []string{count(n)}, Action: messagesPath + "/selected", Verb: "Delete messages", Back: back,
		Form: []console.Hidden{{Name: "do", Value: "delete"}, {Name: "sure", Value: "true"}},
	}
	for _, name := range append([]string{"state"}, filterFields...) {
		if value := form.Get(name); value != "" {
			c.Form = append(c.Form, console.Hidden{Name: name, Value: value})
		}
	}
	for _, id := range form.All("id") {
		c.Form = append(c.Form, console.Hidden{Name: "id", Value: id})
	}
	return c
}

func count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return strconv.Itoa(n) + " messages"
}
