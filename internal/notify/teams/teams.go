// Package teams writes cards for Microsoft Teams: an Adaptive Card in the
// message envelope that the stock workflow "Post to a channel when a webhook
// request is received" expects.
//
// Sources: https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-format,
// https://learn.microsoft.com/adaptive-cards/schema-explorer/adaptive-card.
package teams

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// maxSize is what no message reaches, in bytes. Teams takes 28 KiB, but counts
// after the workflow has rewritten the message, which makes about a fifth
// more of it; what is too big is lost after the sender got its 2xx.
const maxSize = 20 << 10

const (
	// version of Adaptive Cards: later ones, posted through a workflow, show
	// as "this card couldn't be displayed".
	version = "1.4"
	// maxActions is how many buttons Teams shows.
	maxActions = 6
	// maxTitle, in characters, keeps what is never left off, twice the title
	// and a link of 2,000 bytes, well below maxSize.
	maxTitle = 600
	maxLabel = 60 // what a button says
)

// Card writes the card's message: compact JSON below maxSize, without nulls.
// If need be, parts of the card are left off in the order of card.Shorten.
func Card(c card.Card) []byte {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	for {
		w.b = w.b[:0]
		w.message(&c)
		if len(w.b) < maxSize || !c.Shorten() {
			return bytes.Clone(w.b)
		}
	}
}

// writer appends JSON. Commas stand before all but the first of their list.
type writer struct {
	b       []byte
	scratch []byte
	lines   []byte // of the list that is being written
}

// writers are used again, with the memory that they have.
var writers = sync.Pool{New: func() any { return new(writer) }}

func (w *writer) message(c *card.Card) {
	w.open(notify.Ellipsis(c.Title, maxTitle), c.Kind, c.Mentions)
	w.raw(`]}`)
	w.facts(c)
	w.commits(c)
	w.items(c)
	if c.Text != "" {
		w.text(c.Text, `,"wrap":true,"separator":true}`)
	}
	w.mentions(c.Mentions)
	w.raw(`]`)
	w.actions(c.Links)
	w.raw(`}}]}`)
}

// open writes what every message starts with, to within the container that has
// the title.
func (w *writer) open(title string, kind card.Kind, mentions []card.Mention) {
	w.raw(`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":` +
		`{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"` + version + `",` +
		`"msteams":{"width":"Full"`)
	w.entities(mentions)
	w.raw(`},"fallbackText":`)
	w.quoted(title)
	w.raw(`,"body":[{"type":"Container","style":"`)
	w.raw(style(kind))
	w.raw(`","bleed":true,"items":[{"type":"TextBlock","text":`)
	w.escaped(title)
	w.raw(`,"weight":"Bolder","wrap":true}`)
}

// style is the colour of a container.
func style(k card.Kind) string {
	switch k {
	case card.Info:
		return "accent"
	case card.Good:
		return "good"
	case card.Warning:
		return "warning"
	case card.Bad:
		return "attention"
	}
	return "emphasis"
}

func (w *writer) facts(c *card.Card) {
	more, count := c.FactsMore()
	if c.Branch == "" && len(c.Facts) == 0 && more == "" {
		return
	}
	w.raw(`,{"type":"FactSet","facts":[`)
	if c.Branch != "" {
		w.fact("Branch", c.Branch, true)
	}
	for i, f := range c.Facts {
		w.fact(f.Name, f.Value, i == 0 && c.Branch == "")
	}
	if more != "" {
		w.fact(more, count, len(c.Facts) == 0 && c.Branch == "")
	}
	w.raw(`]}`)
}

func (w *writer) fact(name, value string, first bool) {
	if !first {
		w.raw(`,`)
	}
	w.raw(`{"title":`)
	w.escaped(name)
	w.raw(`,"value":`)
	w.escaped(value)
	w.raw(`}`)
}

func (w *writer) actions(links []card.Link) {
	n := 0
	for _, l := range links {
		url := card.Absolute(l.URL)
		if url == "" || n == maxActions {
			continue
		}
		if n++; n == 1 {
			w.raw(`,"actions":[`)
		} else {
			w.raw(`,`)
		}
		w.raw(`{"type":"Action.OpenUrl","title":`)
		w.quoted(notify.Ellipsis(l.Title, maxLabel))
		w.raw(`,"url":`)
		w.quoted(url)
		w.raw(`}`)
	}
	if n > 0 {
		w.raw(`]`)
	}
}

// text writes a block of text, which is not the first of its list, and what else
// the block has.
func (w *writer) text(s, rest string) {
	w.raw(`,{"type":"TextBlock","text":`)
	w.escaped(s)
	w.raw(rest)
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// quoted writes a JSON string.
func (w *writer) quoted(s string) {
	// Its only error is about bytes that are not UTF-8, which it replaces.
	w.b, _ = jsontext.AppendQuote(w.b, s)
}

// escaped writes a JSON string of text that Markdown must not change.
func (w *writer) escaped(s string) {
	if !special(s) {
		w.quoted(s)
		return
	}
	w.scratch = appendEscaped(w.scratch[:0], s)
	w.b, _ = jsontext.AppendQuote(w.b, w.scratch)
}
