package teams

import "outrigger/internal/notify/card"

// mentions are a line of names, each of which Teams makes a mention by an entity
// with the very same text.
func (w *writer) mentions(mentions []card.Mention) {
	if len(mentions) == 0 {
		return
	}
	s := append(w.scratch[:0], "Reviewers: "...)
	for i, m := range mentions {
		if i > 0 {
			s = append(s, ", "...)
		}
		s = append(s, at(m)...)
	}
	w.scratch = s
	w.raw(`,{"type":"TextBlock","text":`)
	w.quoted(string(s))
	w.raw(`,"wrap":true}`)
}

// entities say whom the mentions of the card mean.
func (w *writer) entities(mentions []card.Mention) {
	for i, m := range mentions {
		if i == 0 {
			w.raw(`,"entities":[`)
		} else {
			w.raw(`,`)
		}
		w.raw(`{"type":"mention","text":`)
		w.quoted(at(m))
		w.raw(`,"mentioned":{"id":`)
		w.quoted(m.ID)
		w.raw(`,"name":`)
		w.quoted(m.Name)
		w.raw(`}}`)
	}
	if len(mentions) > 0 {
		w.raw(`]`)
	}
}

func at(m card.Mention) string { return "<at>" + m.Name + "</at>" }
