package teams

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
	w.open(d.Title, card.Neutral, d.Mentions)
	if d.Period != "" {
		w.text(d.Period, `,"isSubtle":true,"wrap":true}`)
	}
	w.raw(`]}`)
	for _, g := range d.Groups {
		w.text(g.Name, `,"weight":"Bolder","wrap":true,"separator":true}`)
		for _, l := range g.Lines {
			w.bullet(l.Text, l.URL)
		}
		w.list(`,"wrap":true,"spacing":"None"}`)
	}
	w.mentions(d.Mentions)
	w.raw(`]}}]}`)
}
