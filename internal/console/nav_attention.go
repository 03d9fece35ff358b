package console

import (
	"sync"
	"time"

	"outrigger/internal/identity"
)

// attentionFor is how long the numbers beside the navigation may be old: each page
// has them, and they cost as much as the overview.
const attentionFor = 5 * time.Second

// attentionKept bounds for how many readers numbers are kept.
const attentionKept = 200

// attentionCounts keeps how much needs attention, by reader and by entry of the
// navigation.
type attentionCounts struct {
	mu       sync.Mutex
	ofReader map[string]*readerCounts
}

type readerCounts struct {
	mu     sync.Mutex // held while one page counts and the others wait
	at     time.Time
	counts map[string]int // by the path of the entry
}

func (a *attentionCounts) of(reader string) *readerCounts {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.ofReader[reader]
	if found == nil {
		if a.ofReader == nil || len(a.ofReader) >= attentionKept {
			a.ofReader = map[string]*readerCounts{}
		}
		found = new(readerCounts)
		a.ofReader[reader] = found
	}
	return found
}

// attentionOf returns how much needs attention on the pages below each entry of the
// navigation, as the reader sees it.
func (x *exchange) attentionOf(p *identity.Principal) map[string]int {
	reader := overviewTopic(p, false)
	if reader == "" {
		reader = p.Source + "/" + p.Name
	}
	kept := x.c.attention.of(reader)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.counts != nil && time.Since(kept.at) < attentionFor {
		return kept.counts
	}
	began := time.Now()
	notices, _ := x.c.Attention(x.r.Context(), p) // the overview says what failed
	counts := map[string]int{}
	for i := range notices {
		if entry := x.c.entryOf(notices[i].Link); entry.Path != "" && entry.Path != "/" {
			counts[entry.Path]++
		}
	}
	kept.at, kept.counts = began, counts
	return counts
}
