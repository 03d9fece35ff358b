// Package slack writes cards for incoming webhooks of Slack: blocks, with a
// text for notifications.
//
// Sources: https://docs.slack.dev/reference/block-kit/blocks,
// https://docs.slack.dev/messaging/formatting-message-text.
package slack

import (
	"bytes"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// maxSize is what no message reaches, in bytes. Slack names no limit for all
// blocks together, but refuses messages from about 13,200 characters on.
const maxSize = 12_000

// Slack's limits are of characters after escaping, which makes five of one at
// most. Ours are of characters before it.
const (
	maxFields  = 10 // Slack's, of a section
	maxTitle   = 500
	maxText    = 500
	maxPlain   = 300
	maxName    = 60  // a field has 2,000 in all
	maxValue   = 300 // likewise
	maxMessage = 120
	maxDetail  = 250
	maxLabel   = 60
)

// Card writes the card's message: compact JSON below maxSize. If need be, parts
// of the card are left off in the order of card.Shorten.
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

// writer appends JSON, and the text of the block at hand to text.
type writer struct {
	b    []byte
	text []byte
}

// writers are used again, with the memory that they have.
var writers = sync.Pool{New: func() any { return new(writer) }}

func (w *writer) message(c *card.Card) {
	w.raw(`{"text":`)
	w.text = appendEscaped(w.text[:0], notify.Ellipsis(c.Plain(), maxPlain))
	w.quoteText()
	w.raw(`,"mrkdwn":false,"blocks":[`)
	w.title(c.Kind, c.Title)
	w.fields(c)
	w.commits(c)
	w.items(c)
	w.quotation(c.Text)
	w.mentions(c.Mentions)
	w.links(c.Links)
	w.raw(`]}`)
}

// dot shows the kind: blocks have no colour of their own.
func dot(k card.Kind) string {
	switch k {
	case card.Info:
		return "🔵 "
	case card.Good:
		return "🟢 "
	case card.Warning:
		return "🟠 "
	case card.Bad:
		return "🔴 "
	}
	return "⚪ "
}

func (w *writer) title(kind card.Kind, title string) {
	title = notify.Ellipsis(title, maxTitle)
	w.text = append(w.text[:0], dot(kind)...)
	w.raw(`{"type":"section","text":`)
	if hasMarkup(title) {
		w.text = appendEscaped(w.text, title)
		w.plain()
	} else {
		w.text = append(appendEscaped(append(w.text, '*'), title), '*')
		w.mrkdwn()
	}
	w.raw(`}`)
}

func (w *writer) fields(c *card.Card) {
	n := 0
	if c.Branch != "" {
		w.field(n, "Branch", c.Branch)
		n++
	}
	for _, f := range c.Facts {
		w.field(n, f.Name, f.Value)
		n++
	}
	if name, value := c.FactsMore(); name != "" {
		w.field(n, name, value)
		n++
	}
	if n > 0 {
		w.raw(`]}`)
	}
}

// field writes field n of the card, and the beginning of its section where
// the one before is full.
func (w *writer) field(n int, name, value string) {
	switch {
	case n == 0:
		w.raw(`,{"type":"section","fields":[`)
	case n%maxFields == 0:
		w.raw(`]},{"type":"section","fields":[`)
	default:
		w.raw(`,`)
	}
	name, value = notify.Ellipsis(name, maxName), notify.Ellipsis(value, maxValue)
	if hasMarkup(name) || hasMarkup(value) {
		w.text = appendEscaped(append(appendEscaped(w.text[:0], name), '\n'), value)
		w.plain()
		return
	}
	w.text = append(appendEscaped(append(w.text[:0], '*'), name), "*\n"...)
	w.text = appendEscaped(w.text, value)
	w.mrkdwn()
}

// quotation is what a user wrote, each line behind a bar where that can be had
// without more markup.
func (w *writer) quotation(s string) {
	w.text = w.text[:0]
	if s = notify.Ellipsis(s, maxText); hasMarkup(s) {
		w.text = appendEscaped(w.text, s)
		w.raw(`,{"type":"section","text":`)
		w.plain()
		w.raw(`}`)
		return
	}
	if s != "" {
		w.text = append(w.text, '>')
		for _, r := range s {
			w.text = appendRune(w.text, r)
			if r == '\n' {
				w.text = append(w.text, '>')
			}
		}
	}
	w.section()
}

// mentions are ids, which Slack shows as names. The markup is processed in
// verbatim text too.
func (w *writer) mentions(mentions []card.Mention) {
	w.text = w.text[:0]
	for i, m := range mentions {
		if i == 0 {
			w.text = append(w.text, "Reviewers:"...)
		}
		w.text = append(w.text, " <@"...)
		w.text = appendEscaped(w.text, m.ID)
		w.text = append(w.text, '>')
	}
	w.section()
}

// section writes the text, unless there is none, as a block.
func (w *writer) section() {
	if len(w.text) == 0 {
		return
	}
	w.raw(`,{"type":"section","text":`)
	w.mrkdwn()
	w.raw(`}`)
}

// mrkdwn writes the text in Slack's markup. Verbatim means that what looks
// like a channel or a name stays text.
func (w *writer) mrkdwn() {
	w.raw(`{"type":"mrkdwn","text":`)
	w.quoteText()
	w.raw(`,"verbatim":true}`)
}

// hasMarkup reports whether a text has characters that may format it, of which
// Slack has no escape: a star or backtick anywhere, or an underscore or tilde that
// begins a word. Those within words, as in feature/carry_all, format nothing.
func hasMarkup(s string) bool {
	inWord := false
	for _, r := range s {
		switch {
		case r == '*', r == '`', (r == '_' || r == '~') && !inWord:
			return true
		}
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '~'
	}
	return false
}

// plain writes the text as one that Slack does not format.
func (w *writer) plain() {
	w.raw(`{"type":"plain_text","text":`)
	w.quoteText()
	w.raw(`,"emoji":false}`)
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

func (w *writer) quoteText() {
	// Its only error is about bytes that are not UTF-8, which it replaces.
	w.b, _ = jsontext.AppendQuote(w.b, w.text)
}

// appendEscaped appends text, with the three characters that Slack's markup
// reserves escaped.
func appendEscaped(to []byte, s string) []byte {
	for _, r := range s {
		to = appendRune(to, r)
	}
	return to
}

// control reports whether r is a control character other than a line feed.
func control(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }

func appendRune(to []byte, r rune) []byte {
	switch {
	case r == '&':
		return append(to, "&amp;"...)
	case r == '<':
		return append(to, "&lt;"...)
	case r == '>':
		return append(to, "&gt;"...)
	case control(r):
		return append(to, ' ')
	}
	return append(to, string(r)...)
}
