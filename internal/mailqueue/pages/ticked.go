package pages

import (
	"net/http"
	"slices"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

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
