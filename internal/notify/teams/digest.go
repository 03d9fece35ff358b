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
	w.raw(`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":` +
		`{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"` + version + `",` +
		`"msteams":{"width":"Full"`)
	w.entities(d.Mentions)
	w.raw(`},"fallbackText":`)
	w.quoted(d.Title)
	w.raw(`,"body":[{"type":"Container","style":"` + style(card.Neutral) + `","bleed":true,"items":[{"type":"TextBlock","text":`)
	w.escaped(d.Title)
	w.raw(`,"weight":"Bolder","wrap":true}`)
	if d.Period != "" {
		w.raw(`,{"type":"TextBlock","text":`)
		w.escaped(d.Period)
		w.raw(`,"isSubtle":true,"wrap":true}`)
	}
	w.raw(`]}`)
	for _, g := range d.Groups {
		w.group(g)
	}
	w.mentions(d.Mentions)
	w.raw(`]}}]}`)
}

// group is a heading and a list in one text: Teams takes \r between its lines.
func (w *writer) group(g card.Group) {
	w.raw(`,{"type":"TextBlock","text":`)
	w.escaped(g.Name)
	w.raw(`,"weight":"Bolder","wrap":true,"separator":true}`)
	s := w.scratch[:0]
	for _, l := range g.Lines {
		s = append(s, "- "...)
		if l.URL != "" {
			s = append(s, '[')
			s = appendEscaped(s, l.Text)
			s = append(s, "]("...)
			s = appendURL(s, l.URL)
			s = append(s, ')')
		} else {
			s = appendEscaped(s, l.Text)
		}
		s = append(s, '\r')
	}
	w.scratch = s
	w.raw(`,{"type":"TextBlock","text":`)
	w.quotedScratch()
	w.raw(`,"wrap":true,"spacing":"None"}`)
}

// quotedScratch writes the list in scratch, without its last line break.
func (w *writer) quotedScratch() { w.quoted(string(w.scratch[:len(w.scratch)-1])) }
