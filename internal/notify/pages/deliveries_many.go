package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// many are deliveries to which the same is done, and where its question is.
type many struct {
	do     manyAction
	filter notify.DeliveryFilter
	path   string           // where it is posted
	form   []console.Hidden // what is posted
	back   string
	ticked int // how many were ticked in the list; 0: it is about all that the filter selects
}

// ofList is about all that the filters of the list select.
func (p *Pages) ofList(do manyAction, r *http.Request) many {
	f, form := p.filterOf(r.URL.Query().Get)
	return many{do: do, filter: f, path: deliveriesPath + "/" + do.name + filterQuery(form), back: deliveriesPath + filterQuery(form)}
}

func (p *Pages) confirmAll(do manyAction) console.Handler {
	return func(r *http.Request) (console.Response, error) { return p.ask(r, p.ofList(do, r), 0) }
}

func (p *Pages) actOnAll(do manyAction) console.Handler {
	return console.WithForm(func(r *http.Request, form *console.Form) (console.Response, error) {
		return p.actOnMany(r, form, p.ofList(do, r))
	})
}

// actOnSelected redelivers or cancels the deliveries that are ticked.
func (p *Pages) actOnSelected(r *http.Request, form *console.Form) (console.Response, error) {
	back, err := url.ParseQuery(form.Get("filter"))
	if err != nil {
		back = nil
	}
	_, filter := p.filterOf(back.Get)
	m := many{path: deliveriesPath + "/selected", back: deliveriesPath + filterQuery(filter)}
	switch form.Get("do") {
	case redelivering.name:
		m.do = redelivering
	case cancelling.name:
		m.do = cancelling
	default:
		return nil, fault.New(fault.Invalid, "Choose what to do with the deliveries.")
	}
	m.form = []console.Hidden{{Name: "do", Value: m.do.name}, {Name: "filter", Value: form.Get("filter")}}
	if err := m.tick(form.All("id")); err != nil {
		return nil, err
	}
	if m.ticked == 0 {
		return m.done("Nothing was selected. Select deliveries first.", true), nil
	}
	return p.actOnMany(r, form, m)
}

// tick has it be about the deliveries with the ids, at most a page of the list.
func (m *many) tick(ids []string) error {
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return fault.New(fault.Invalid, "%q is not the id of a delivery. Nothing was done.", text)
		case slices.Contains(m.filter.IDs, id):
			continue
		case m.ticked == pageSize:
			return fault.New(fault.Invalid, "More than %d deliveries are selected. Nothing was done. Filter the list by state, and use "+
				"what it offers for all that match.", pageSize)
		}
		m.filter.IDs, m.ticked = append(m.filter.IDs, id), m.ticked+1
		m.form = append(m.form, console.Hidden{Name: "id", Value: text})
	}
	return nil
}

// actOnMany does what was posted, after it has asked where it is about more than one, and
// says what was done.
func (p *Pages) actOnMany(r *http.Request, form *console.Form, m many) (console.Response, error) {
	asked, err := form.Asked()
	if err != nil {
		return nil, err
	}
	if asked.At.IsZero() {
		if question, err := p.ask(r, m, 1); question != nil || err != nil {
			return question, err
		}
	}
	m.filter.AsOf, m.filter.Count = asked.At, int(asked.Count)
	n, err := p.Deliveries.DoAll(r.Context(), m.do.Action, m.filter)
	if fault.Is(err, fault.Conflict) {
		return m.done(fault.As(err).Message, true), nil
	}
	if err != nil {
		return nil, err
	}
	text, skips := m.do.did(n.Done), m.skipped(n)
	if since := int(asked.Count) - n.Done; m.ticked == 0 && since > 0 {
		text += " " + console.Counted(since, "delivery is", "deliveries are") + " left as before: changed since the question."
	}
	return m.done(strings.TrimSpace(text+" "+skips), n.Done < int(asked.Count) || skips != ""), nil
}

func (m *many) done(text string, warn bool) console.Redirect {
	to := console.Redirect{To: m.back, Flash: text}
	if warn {
		to.Tone = console.Warn
	}
	return to
}
