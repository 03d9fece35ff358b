package teams

import "outrigger/internal/notify/card"

// items are a list in one text, as commits are.
func (w *writer) items(c *card.Card) {
	more := c.ItemsMore()
	if len(c.Items) == 0 && more == "" {
		return
	}
	s := w.scratch[:0]
	for _, item := range c.Items {
		s = append(s, "- "...)
		if url := card.Absolute(item.URL); url != "" {
			s = append(s, '[')
			s = appendEscaped(s, item.Title)
			s = append(s, "]("...)
			s = appendURL(s, url)
			s = append(s, ')')
		} else {
			s = appendEscaped(s, item.Title)
		}
		s = append(s, " — "...)
		s = appendEscaped(s, item.Detail)
		s = append(s, '\r')
	}
	if more != "" {
		s = append(s, "- "...)
		s = appendEscaped(s, more)
		s = append(s, '\r')
	}
	w.scratch = s
	w.raw(`,{"type":"TextBlock","text":`)
	w.quotedScratch()
	w.raw(`,"wrap":true,"separator":true}`)
}
