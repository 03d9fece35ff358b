package pages

import (
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify/admin"
)

// askCancel asks with the number, and says what is skipped; nil where a few would be
// cancelled.
func (p *Pages) askCancel(r *http.Request, m many, few int) (console.Response, error) {
	n, at, err := p.Deliveries.WouldCancel(r.Context(), m.filter)
	if err != nil || n.Cancelled > 0 && n.Cancelled <= few {
		return nil, err
	}
	if n.Cancelled == 0 {
		return m.done(strings.TrimSpace("Nothing waits that you could cancel. "+m.notWaiting(n)), true), nil
	}
	text := "They stay in the list, and you can send them later. One that is being sent right now may still arrive. " +
		"Deliveries that come to wait after this question are not included."
	if n.More {
		text += atMost("cancelled")
	}
	return console.Confirm{
		Title: "Do not send " + console.Counted(n.Cancelled, "message", "messages") + "?",
		Text:  strings.TrimSpace(text + " " + m.notWaiting(n)),
		Verb:  doNotSend, Keep: "Keep waiting", Action: m.path, Back: m.back,
		Form: append(m.form, console.Asked{At: at, Count: int64(n.Cancelled)}.Hidden()...),
	}, nil
}

func (p *Pages) cancelMany(r *http.Request, m many, asked console.Asked) (console.Response, error) {
	n, err := p.Deliveries.CancelAll(r.Context(), m.filter)
	if err != nil {
		return nil, err
	}
	text := console.Counted(n.Cancelled, "message", "messages") + " will not be sent."
	if n.Cancelled == 0 {
		text = ""
	}
	if m.ticked == 0 {
		text += changed(int(asked.Count) - n.Cancelled)
	}
	skips := m.notWaiting(n)
	return m.done(strings.TrimSpace(text+" "+skips), n.Cancelled < int(asked.Count) || skips != ""), nil
}

// notWaiting says what a cancellation leaves alone.
func (m *many) notWaiting(n admin.Cancellation) string {
	return skippedText(skipped{n.Forbidden, ofOthers}, skipped{m.ticked - n.Cancelled - n.Forbidden, "that no longer wait, or are gone"})
}
