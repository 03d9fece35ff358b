package pages

import (
	"cmp"
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
)

// manyAction is what is done to many deliveries, with its words.
type manyAction struct {
	*admin.Action
	name     string // in addresses and forms
	nothing  string // where there is nothing to do
	question func(n int) string
	text     string // below the question
	verb     string // of the button; "": the question
	keep     string
	harmless bool
	did      func(n int) string
	gone     string // what of those that were ticked is left alone besides
}

var redelivering = manyAction{
	Action: admin.Redelivery, name: "redeliver", nothing: "There is nothing to send again.",
	question: func(n int) string { return "Send " + console.Counted(n, "delivery", "deliveries") + " again" },
	text: "They go back into the queues of their channels, before newer messages. If many wait, they are sent as digests. " +
		"Deliveries that end after this question are not included.",
	keep: doNotSend, harmless: true,
	did:  func(n int) string { return console.Counted(n, "delivery is", "deliveries are") + " back in the queue." },
	gone: "that wait already, or are gone",
}

var cancelling = manyAction{
	Action: admin.Cancellation, name: "cancel", nothing: "Nothing waits that you could cancel.",
	question: func(n int) string { return "Do not send " + console.Counted(n, "message", "messages") },
	text: "They stay in the list, and you can send them later. One that is being sent right now may still arrive. " +
		"Deliveries that come to wait after this question are not included.",
	verb: doNotSend, keep: "Keep waiting",
	did: func(n int) string {
		if n == 0 {
			return ""
		}
		return console.Counted(n, "message", "messages") + " will not be sent."
	},
	gone: "that no longer wait, or are gone",
}

// ask asks with the number, and says what is skipped; nil where no more than few are
// concerned, which needs no question.
func (p *Pages) ask(r *http.Request, m many, few int) (console.Response, error) {
	n, at, err := p.Deliveries.Would(r.Context(), m.do.Action, m.filter)
	if err != nil || n.Done > 0 && n.Done <= few {
		return nil, err
	}
	if n.Done == 0 {
		return m.done(strings.TrimSpace(m.do.nothing+" "+m.skipped(n)), true), nil
	}
	text := m.do.text
	if n.More {
		text += " There may be more: at most " + console.Count(admin.MaxAtOnce) + " are " + m.do.Done + " at once."
	}
	if n.ToChannel > 0 {
		text += " Of these, " + console.Count(int64(n.ToChannel)) + " go to their channels themselves, because their rules are deleted."
	}
	question := m.do.question(n.Done)
	return console.Confirm{
		Title: question + "?", Text: strings.TrimSpace(text + " " + m.skipped(n)),
		Verb: cmp.Or(m.do.verb, question), Harmless: m.do.harmless, Keep: m.do.keep, Action: m.path, Back: m.back,
		Form: append(m.form, console.Asked{At: at, Count: int64(n.Done)}.Hidden()...),
	}, nil
}

// skipped says what is left alone, and why.
func (m *many) skipped(n notify.Affected) string {
	var parts []string
	for _, s := range []struct {
		n   int
		why string
	}{
		{n.Skipped, "that no enabled rule takes any more"}, {n.Forbidden, "with a rule that you do not administer"},
		{m.ticked - n.Done - n.Skipped - n.Forbidden, m.do.gone},
	} {
		if s.n > 0 {
			parts = append(parts, console.Count(int64(s.n))+" "+s.why)
		}
	}
	if parts == nil {
		return ""
	}
	return "Skipped: " + strings.Join(parts, "; ") + "."
}
