// Package slack writes cards for incoming webhooks of Slack: blocks, with a
// text for notifications.
//
// Sources: https://docs.slack.dev/reference/block-kit/blocks,
// https://docs.slack.dev/messaging/formatting-message-text.
package slack

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// MaxSize is what no message reaches, in bytes. Slack names no limit for all
// blocks together, but refuses messages from about 13,200 characters on.
const MaxSize = 12_000

// Slack's limits are of characters after escaping, which makes five of one at
// most. Ours are of characters before it.
const (
	maxSection = 3000 // Slack's, of a section's text
	maxFields  = 10   // Slack's, of a section
	maxTitle   = 500
	maxText    = 500
	maxPlain   = 300
	maxName    = 60  // a field has 2,000 in all
	maxValue   = 300 // likewise
	maxMessage = 120
	maxLabel   = 60

	// usualText is what most blocks' texts stay below, in bytes.
	usualText = 512
)

// Append appends the card's message: compact JSON below MaxSize. If need be,
// parts of the card are left off in the order of card.Shorten.
func Append(to []byte, c card.Card) []byte {
	w := writer{text: make([]byte, 0, usualText)}
	for {
		w.b = to
		w.message(&c)
		if len(w.b)-len(to) < MaxSize || !c.Shorten() {
			return w.b
		}
	}
}

// writer appends JSON, and the text of the block at hand to text.
type writer struct {
	b    []byte
	text []byte
}

func (w *writer) message(c *card.Card) {
	w.raw(`{"text":`)
	w.text = appendEscaped(w.text[:0], notify.Ellipsis(c.Plain(), maxPlain))
	w.quoteText()
	w.raw(`,"blocks":[`)
	w.title(c)
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

func (w *writer) title(c *card.Card) {
	bold := "*"
	if strings.Contains(c.Title, bold) { // which has no escape
		bold = ""
	}
	w.text = append(w.text[:0], dot(c.Kind)...)
	w.text = append(w.text, bold...)
	w.text = appendEscaped(w.text, notify.Ellipsis(c.Title, maxTitle))
	w.text = append(w.text, bold...)
	w.raw(`{"type":"section","text":`)
	w.mrkdwn()
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
	w.text = append(w.text[:0], '*')
	w.text = appendEscaped(w.text, notify.Ellipsis(name, maxName))
	w.text = append(w.text, "*\n"...)
	w.text = appendEscaped(w.text, notify.Ellipsis(value, maxValue))
	w.mrkdwn()
}

// commits are one section; those that do not fit are counted.
func (w *writer) commits(c *card.Card) {
	left := *c
	w.text = w.text[:0]
	for i, k := range c.Commits {
		before := len(w.text)
		w.commit(k)
		if len(w.text) > maxSection-len("• and at least 1000000 more") {
			w.text = w.text[:before]
			left.Commits, left.MoreCommits = c.Commits[:i], c.MoreCommits+len(c.Commits)-i
			break
		}
	}
	if more := left.CommitsMore(); more != "" {
		w.text = append(w.text, "• "...)
		w.text = append(w.text, more...)
	}
	w.section()
}

func (w *writer) commit(k card.Commit) {
	w.text = append(w.text, "• "...)
	if url := card.Absolute(k.URL); url != "" {
		w.link(url, k.ID)
	} else {
		w.text = appendEscaped(w.text, notify.Ellipsis(k.ID, maxLabel))
	}
	w.text = append(w.text, ' ')
	w.text = appendEscaped(w.text, notify.Ellipsis(k.Message, maxMessage))
	if k.Author != "" {
		w.text = append(w.text, " — "...)
		w.text = appendEscaped(w.text, notify.Ellipsis(k.Author, maxName))
	}
	w.text = append(w.text, '\n')
}

// quotation is what a user wrote, each line behind a bar.
func (w *writer) quotation(s string) {
	w.text = w.text[:0]
	if s != "" {
		w.text = append(w.text, '>')
		for _, r := range notify.Ellipsis(s, maxText) {
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

// links are text: buttons of a webhook without an app behind it show a warning
// when they are pressed.
func (w *writer) links(links []card.Link) {
	w.text = w.text[:0]
	for _, l := range links {
		url := card.Absolute(l.URL)
		before := len(w.text)
		if url == "" {
			continue
		}
		if before > 0 {
			w.text = append(w.text, " · "...)
		}
		w.link(url, l.Title)
		if len(w.text) > maxSection {
			w.text = w.text[:before]
		}
	}
	w.section()
}

func (w *writer) link(url, title string) {
	w.text = append(w.text, '<')
	w.text = appendEscaped(w.text, url)
	w.text = append(w.text, '|')
	w.text = appendEscaped(w.text, notify.Ellipsis(title, maxLabel))
	w.text = append(w.text, '>')
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

func appendRune(to []byte, r rune) []byte {
	switch {
	case r == '&':
		return append(to, "&amp;"...)
	case r == '<':
		return append(to, "&lt;"...)
	case r == '>':
		return append(to, "&gt;"...)
	case r < ' ' && r != '\n' || r == 0x7f:
		return append(to, ' ')
	}
	return append(to, string(r)...)
}
