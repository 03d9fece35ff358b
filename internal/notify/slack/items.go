package slack

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

func (w *writer) items(c *card.Card) {
	r := w.rich()
	for _, item := range c.Items {
		r.item()
		r.link(item.URL, notify.Ellipsis(item.Title, maxMessage))
		r.add(" — ", notify.Ellipsis(item.Detail, maxDetail))
	}
	if more := c.ItemsMore(); more != "" {
		r.item()
		r.add(more)
	}
	r.end()
}

func (w *writer) commits(c *card.Card) {
	r := w.rich()
	for _, k := range c.Commits {
		r.item()
		r.link(k.URL, notify.Ellipsis(k.ID, maxLabel))
		r.add(" ", notify.Ellipsis(k.Message, maxMessage))
		if k.Author != "" {
			r.add(" — ", notify.Ellipsis(k.Author, maxName))
		}
	}
	if more := c.CommitsMore(); more != "" {
		r.item()
		r.add(more)
	}
	r.end()
}

// links are text: buttons of a webhook without an app behind it show a warning
// when they are pressed.
func (w *writer) links(links []card.Link) {
	r := w.rich()
	for _, l := range links {
		if card.Absolute(l.URL) == "" {
			continue
		}
		if r.n > 0 {
			r.add(" · ")
		}
		r.link(l.URL, notify.Ellipsis(l.Title, maxLabel))
	}
	r.end()
}
