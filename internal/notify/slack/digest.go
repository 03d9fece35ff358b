package slack

import (
	"bytes"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// Digest writes one message about as many of the events as there is room for
// below maxSize, and tells how many they are; see card.Fit for mentions.
func Digest(events []*notify.Event, mentions []card.Mention) (message []byte, taken int) {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	message, taken = card.Fit(events, mentions, maxSize, func(d card.Digest) []byte {
		w.b = w.b[:0]
		w.digest(&d)
		return w.b
	})
	return bytes.Clone(message), taken
}

func (w *writer) digest(d *card.Digest) {
	w.raw(`{"text":`)
	w.text = appendEscaped(w.text[:0], d.Title)
	w.quoteText()
	w.raw(`,"mrkdwn":false,"blocks":[`)
	w.title(card.Neutral, d.Title)
	r := w.rich() // one: a message has 50 blocks at most
	r.add(d.Period)
	for _, g := range d.Groups {
		if r.n > 0 || len(r.text) > 0 {
			r.add("\n")
		}
		r.bold(notify.Ellipsis(g.Name, maxTitle))
		for _, l := range g.Lines {
			r.item()
			r.link(l.URL, l.Text)
		}
	}
	r.end()
	w.mentions(d.Mentions)
	w.raw(`]}`)
}
