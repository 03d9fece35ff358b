package pages

import (
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// askRedeliver asks with the number, and says what is skipped; nil where a few
// would be redelivered.
func (p *Pages) askRedeliver(r *http.Request, m many, few int) (console.Response, error) {
	n, at, err := p.Deliveries.WouldRedeliver(r.Context(), m.filter)
	if err != nil || n.Queued > 0 && n.Queued <= few {
		return nil, err
	}
	if n.Queued == 0 {
		return m.done(strings.TrimSpace("There is nothing to send again. "+m.notAgain(n)), true), nil
	}
	text := "They go back into the queues of their channels, before newer messages. If many wait, they are sent as digests. " +
		"Deliveries that end after this question are not included."
	if n.More {
		text += atMost("sent again")
	}
	if n.ToChannel > 0 {
		text += " Of these, " + console.Count(int64(n.ToChannel)) + " go to their channels themselves, because their rules are deleted."
	}
	question := "Send " + console.Counted(n.Queued, "delivery", "deliveries") + " again"
	return console.Confirm{
		Title: question + "?", Text: strings.TrimSpace(text + " " + m.notAgain(n)),
		Verb: question, Harmless: true, Keep: doNotSend, Action: m.path, Back: m.back,
		Form: append(m.form, console.Asked{At: at, Count: int64(n.Queued)}.Hidden()...),
	}, nil
}

func (p *Pages) redeliverMany(r *http.Request, m many, asked console.Asked) (console.Response, error) {
	n, err := p.Deliveries.RedeliverAll(r.Context(), m.filter)
	if err != nil {
		return nil, err
	}
	text := console.Counted(n.Queued, "delivery is", "deliveries are") + " back in the queue."
	if m.ticked == 0 {
		text += changed(int(asked.Count) - n.Queued)
	}
	skips := m.notAgain(n)
	return m.done(strings.TrimSpace(text+" "+skips), n.Queued < int(asked.Count) || skips != ""), nil
}

// notAgain says what a redelivery leaves alone.
func (m *many) notAgain(n notify.Redelivered) string {
	return skippedText(skipped{n.Skipped, "that no enabled rule takes any more"}, skipped{n.Forbidden, ofOthers},
		skipped{m.ticked - n.Queued - n.Skipped - n.Forbidden, "that wait already, or are gone"})
}
