package slack

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// A line of a report with both of these and its title, each escaped, is shorter
// than a section.
const (
	maxItemURL = 800 // bytes after escaping; a longer one is left out
	maxDetail  = 250
)

// items share sections, as the lines of a digest do.
func (w *writer) items(c *card.Card) {
	w.text = w.text[:0]
	for _, item := range c.Items {
		w.inSection(func() { w.item(item) })
	}
	if more := c.ItemsMore(); more != "" {
		w.inSection(func() { w.text = append(append(w.text, "• "...), more...) })
	}
	w.section()
}

func (w *writer) item(item card.Item) {
	w.text = append(w.text, "• "...)
	title := notify.Ellipsis(item.Title, maxMessage)
	if url := card.Absolute(item.URL); url != "" && len(appendEscaped(nil, url)) <= maxItemURL {
		w.text = append(w.text, '<')
		w.text = appendEscaped(w.text, url)
		w.text = append(w.text, '|')
		w.text = appendEscaped(w.text, title)
		w.text = append(w.text, '>')
	} else {
		w.text = appendEscaped(w.text, title)
	}
	w.text = append(w.text, " — "...)
	w.text = appendEscaped(w.text, notify.Ellipsis(item.Detail, maxDetail))
	w.text = append(w.text, '\n')
}
