package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
)

// many are deliveries to which the same is done, and where its question is.
type many struct {
	filter notify.DeliveryFilter
	path   string           // where it is posted
	form   []console.Hidden // what is posted
	back   string
	ticked int // how many were ticked in the list; 0: it is about all that the filter selects
}

// ofList is about all that the filters of the list select.
func (p *Pages) ofList(r *http.Request) many {
	f, form := p.filterOf(r.URL.Query().Get)
	return many{filter: f, path: deliveriesPath + "/redeliver" + filterQuery(form), back: deliveriesPath + filterQuery(form)}
}

func (p *Pages) confirmRedeliverAll(r *http.Request) (console.Response, error) {
	return p.askRedeliver(r, p.ofList(r), 0)
}

func (p *Pages) redeliverAll(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	return p.redeliverMany(r, form, p.ofList(r))
}

// actOnSelected redelivers or cancels the deliveries that are ticked.
func (p *Pages) actOnSelected(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	do := form.Get("do")
	if do != "redeliver" && do != "cancel" {
		return nil, fault.New(fault.Invalid, "Choose what to do with the deliveries.")
	}
	back, err := url.ParseQuery(form.Get("filter"))
	if err != nil {
		back = nil
	}
	_, filter := p.filterOf(back.Get)
	m := many{
		path: deliveriesPath + "/selected", back: deliveriesPath + filterQuery(filter),
		form: []console.Hidden{{Name: "do", Value: do}, {Name: "filter", Value: form.Get("filter")}},
	}
	for _, text := range form.All("id") {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || m.ticked == pageSize {
			return nil, fault.New(fault.Invalid, "Select up to %d deliveries of the list.", pageSize)
		}
		m.filter.IDs, m.ticked = append(m.filter.IDs, id), m.ticked+1
		m.form = append(m.form, console.Hidden{Name: "id", Value: text})
	}
	if m.ticked == 0 {
		return m.done("Nothing was selected. Select deliveries first.", true), nil
	}
	if do == "cancel" {
		return p.cancelMany(r, form, m)
	}
	return p.redeliverMany(r, form, m)
}

// askRedeliver asks with the number, and says what is skipped; nil where a few
// would be redelivered, which needs no question.
func (p *Pages) askRedeliver(r *http.Request, m many, few int) (console.Response, error) {
	n, at, err := p.Deliveries.WouldRedeliver(r.Context(), m.filter)
	if err != nil || n.Queued > 0 && n.Queued <= few {
		return nil, err
	}
	if n.Queued == 0 {
		return m.done(strings.TrimSpace("There is nothing to send again. "+m.skips(n)), true), nil
	}
	text := "They go back into the queues of their channels, before newer messages. If many wait, they are sent as digests. Deliveries that end after this question are not included."
	if n.Queued+n.Skipped >= admin.MaxAtOnce {
		text += " There may be more: at most " + console.Count(admin.MaxAtOnce) + " are sent again at once."
	}
	if n.ToChannel > 0 {
		text += " Of these, " + console.Count(int64(n.ToChannel)) + " go to their channels themselves, because their rules are deleted."
	}
	question := "Send " + deliveries(n.Queued) + " again"
	return console.Confirm{
		Title: question + "?", Text: strings.TrimSpace(text + " " + m.skips(n)), Verb: question, Keep: "Do not send", Action: m.path, Back: m.back,
		Form: append(m.form, console.Asked{At: at, Count: int64(n.Queued)}.Hidden()...),
	}, nil
}

// redeliverMany redelivers what was posted, after it has asked where it is about more
// than one.
func (p *Pages) redeliverMany(r *http.Request, form *console.Form, m many) (console.Response, error) {
	asked, err := form.Asked()
	if err != nil {
		return nil, err
	}
	if asked.At.IsZero() {
		if question, err := p.askRedeliver(r, m, 1); question != nil || err != nil {
			return question, err
		}
	}
	m.filter.AsOf, m.filter.Count = asked.At, int(asked.Count)
	n, err := p.Deliveries.RedeliverAll(r.Context(), m.filter)
	if fault.Is(err, fault.Conflict) {
		return m.done(fault.As(err).Message, true), nil
	}
	if err != nil {
		return nil, err
	}
	text := deliveriesAre(n.Queued) + " back in the queue."
	if left := int(asked.Count) - n.Queued; left > 0 && m.ticked == 0 {
		text += " " + deliveriesAre(left) + " left as before: changed since the question."
	}
	skips := m.skips(n)
	return m.done(strings.TrimSpace(text+" "+skips), n.Queued < int(asked.Count) || skips != ""), nil
}

// cancelMany cancels what is ticked, after it has asked where that is more than one.
func (p *Pages) cancelMany(r *http.Request, form *console.Form, m many) (console.Response, error) {
	asked, err := form.Asked()
	if err != nil {
		return nil, err
	}
	if asked.At.IsZero() && m.ticked > 1 {
		n, err := p.Deliveries.WouldCancel(r.Context(), m.filter)
		if err != nil {
			return nil, err
		}
		if n.Cancelled > 1 {
			return console.Confirm{
				Title: "Do not send " + messages(n.Cancelled) + "?", Text: strings.TrimSpace("They stay in the list, and you can send them later. " + m.notWaiting(n)),
				Verb: "Do not send", Keep: "Keep waiting", Action: m.path, Back: m.back,
				Form: append(m.form, console.Asked{At: p.Clock(), Count: int64(n.Cancelled)}.Hidden()...),
			}, nil
		}
	}
	n, err := p.Deliveries.CancelAll(r.Context(), m.filter)
	if err != nil {
		return nil, err
	}
	text := messages(n.Cancelled) + " will not be sent. "
	if n.Cancelled == 0 {
		text = ""
	}
	return m.done(strings.TrimSpace(text+m.notWaiting(n)), n.Cancelled < m.ticked), nil
}

func (m *many) done(text string, warn bool) console.Redirect {
	to := console.Redirect{To: m.back, Flash: text}
	if warn {
		to.Tone = console.Warn
	}
	return to
}

// skipped is how many deliveries are left alone, and why.
type skipped struct {
	n   int
	why string
}

const ofOthers = "with a rule that you do not administer"

// skips says what a redelivery leaves alone.
func (m *many) skips(n notify.Redelivered) string {
	return skippedText(skipped{n.Skipped, "that no enabled rule takes any more"}, skipped{n.Forbidden, ofOthers},
		skipped{m.ticked - n.Queued - n.Skipped - n.Forbidden, "that wait already, or are gone"})
}

// notWaiting says what a cancellation leaves alone.
func (m *many) notWaiting(n admin.Cancellation) string {
	return skippedText(skipped{n.Forbidden, ofOthers}, skipped{m.ticked - n.Cancelled - n.Forbidden, "that no longer wait, or are gone"})
}

func skippedText(of ...skipped) string {
	var parts []string
	for _, s := range of {
		if s.n > 0 {
			parts = append(parts, console.Count(int64(s.n))+" "+s.why)
		}
	}
	if parts == nil {
		return ""
	}
	return "Skipped: " + strings.Join(parts, "; ") + "."
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return console.Count(int64(n)) + " messages"
}

func deliveries(n int) string {
	if n == 1 {
		return "1 delivery"
	}
	return console.Count(int64(n)) + " deliveries"
}

func deliveriesAre(n int) string {
	if n == 1 {
		return "1 delivery is"
	}
	return deliveries(n) + " are"
}
