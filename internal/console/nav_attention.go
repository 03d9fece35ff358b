package console

import (
	"time"

	"outrigger/internal/identity"
)

// attentionFor is how long the numbers beside the navigation may be old: each page
// has them, and they cost as much as the overview.
const attentionFor = 5 * time.Second

// attentionOf returns how much needs attention on the pages below each entry of the
// navigation, as the reader sees it.
func (x *exchange) attentionOf(p *identity.Principal) map[string]int {
	reader := overviewTopic(p, false)
	if reader == "" {
		reader = p.Source + "/" + p.Name
	}
	counts, _ := x.c.attention.get(reader, attentionFor, func() (map[string]int, error) {
		notices, _ := x.c.Attention(x.r.Context(), p) // the overview says what failed
		counts := map[string]int{}
		for i := range notices {
			if entry := x.c.entryOf(notices[i].Link); entry.Path != "" && entry.Path != "/" {
				counts[entry.Path]++
			}
		}
		return counts, nil
	})
	return counts
}
