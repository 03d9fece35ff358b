package slack

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// AppendDigest appends one message about as many of the events as there is
// room for below MaxSize, and tells how many they are; see card.Fit for mentions.
func AppendDigest(to []byte, events []*notify.Event, mentions []card.Mention) (message []byte, taken int) {
	w := writer{text: make([]byte, 0, maxSection)}
	return card.Fit(to, events, mentions, MaxSize, func(to []byte, d card.Digest) []byte {
		w.b = to
		w.digest(&d)
		return w.b
	})
}

func (w *writer) digest(d *card.Digest) {
	w.raw(`{"text":`)
	w.text = appendEscaped(w.text[:0], d.Title)
	w.quoteText()
	w.raw(`,"blocks":[{"type":"section","text":`)
	w.text = append(w.text[:0], dot(card.Neutral)...)
	w.text = append(w.text, '*')
	w.text = appendEscaped(w.text, d.Title)
	w.text = append(w.text, '*')
	if d.Period != "" {
		w.text = append(w.text, '\n')
		w.text = appendEscaped(w.text, d.Period)
	}
	w.mrkdwn()
	w.raw(`}`)
	// Groups share sections: a message has 50 blocks at most.
	w.text = w.text[:0]
	for _, g := range d.Groups {
		w.heading(g.Name)
		for _, l := range g.Lines {
			w.line(l)
		}
	}
	w.section()
	w.mentions(d.Mentions)
	w.raw(`]}`)
}

func (w *writer) heading(name string) {
	w.inSection(func() {
		w.text = append(w.text, '*')
		w.text = appendEscaped(w.text, notify.Ellipsis(name, maxTitle))
		w.text = append(w.text, "*\n"...)
	})
}

func (w *writer) line(l card.Line) {
	w.inSection(func() {
		w.text = append(w.text, "• "...)
		if l.URL == "" {
			w.text = appendEscaped(w.text, l.Text)
		} else {
			w.text = append(w.text, '<')
			w.text = appendEscaped(w.text, l.URL)
			w.text = append(w.text, '|')
			w.text = appendEscaped(w.text, l.Text)
			w.text = append(w.text, '>')
		}
		w.text = append(w.text, '\n')
	})
}

// inSection has write append a line, in a section of its own where the present
// one has no room for it.
func (w *writer) inSection(write func()) {
	before := len(w.text)
	write()
	if len(w.text) <= maxSection || before == 0 {
		return
	}
	w.text = w.text[:before]
	w.section()
	w.text = w.text[:0]
	write()
}
