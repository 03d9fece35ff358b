package teams

import (
	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/notify/card"
)

func (w *writer) commits(c *card.Card) {
	more := c.CommitsMore()
	if len(c.Commits) == 0 {
		if more != "" {
			w.text(more, `,"wrap":true}`)
		}
		return
	}
	for _, k := range c.Commits {
		w.bullet(k.ID, card.Absolute(k.URL))
		w.continued(" ", k.Message)
		if k.Author != "" {
			w.continued(" — ", k.Author)
		}
	}
	if more != "" {
		w.bullet(more, "")
	}
	w.list(`,"wrap":true}`)
}

func (w *writer) items(c *card.Card) {
	more := c.ItemsMore()
	if len(c.Items) == 0 && more == "" {
		return
	}
	for _, item := range c.Items {
		w.bullet(item.Title, card.Absolute(item.URL))
		w.continued(" — ", item.Detail)
	}
	if more != "" {
		w.bullet(more, "")
	}
	w.list(`,"wrap":true,"separator":true}`)
}

// bullet starts a line of a list, with a text that links to url if there is one.
// Lines gather until list writes them.
func (w *writer) bullet(text, url string) {
	if len(w.lines) > 0 {
		w.lines = append(w.lines, '\r')
	}
	w.lines = append(w.lines, "- "...)
	if url == "" {
		w.continued("", text)
		return
	}
	w.continued("[", text)
	w.lines = append(w.lines, "]("...)
	w.lines = append(appendURL(w.lines, url), ')')
}

// continued appends a text to the last line.
func (w *writer) continued(separator, text string) {
	w.lines = appendEscaped(append(w.lines, separator...), text)
}

// list writes the lines as one text, since Teams takes \r between them, and what
// else the block has.
func (w *writer) list(rest string) {
	w.raw(`,{"type":"TextBlock","text":`)
	w.b, _ = jsontext.AppendQuote(w.b, w.lines)
	w.raw(rest)
	w.lines = w.lines[:0]
}
