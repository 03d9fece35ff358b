package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"outrigger/internal/identity"
)

// Nav is an entry of the navigation. Entries of one section stand together,
// in the order in which they were added.
type Nav struct {
	Section string
	Label   string
	Path    string // below the base URL; the entry is current for it and what is below it
	// Visible reports whether the entry is shown to p, who is signed in. Nil is
	// everyone. The page's own Access decides what is allowed.
	Visible func(p *identity.Principal) bool
}

// AddNav adds an entry to the navigation.
func (c *Console) AddNav(n Nav) { c.nav = append(c.nav, n) }

// AddMenu adds an entry to the menu under the reader's own name.
func (c *Console) AddMenu(l Link) { c.menu = append(c.menu, l) }

// lastSection stands behind the services and is folded until a page of it is shown.
const lastSection = "System"

type navSection struct {
	Label   string
	Entries []navEntry
	Folds   bool
	Open    bool // has the current entry
}

// Attention is how much needs attention on all pages of the section.
func (s navSection) Attention() (n int) {
	for _, e := range s.Entries {
		n += e.Attention
	}
	return n
}

type navEntry struct {
	Label, Path string
	Current     bool
	Attention   int // how much needs it on the entry's pages
}

// navFor is the navigation as p sees it on the page at path, and that page's
// section. The current entry is that of the page, else of the nearest page above it.
// attention is how much needs it, by the path of the entry.
func (c *Console) navFor(p *identity.Principal, path, section string, up []Link, attention map[string]int) ([]navSection, string) {
	if p == nil {
		return nil, section
	}
	current := c.entryOf(path)
	for _, above := range slices.Backward(up) {
		if current.Path == "" {
			current = c.entryOf(above.Path)
		}
	}
	if section == "" {
		section = current.Section
	}
	var sections []navSection
	at := map[string]int{}
	for _, n := range c.nav {
		if n.Visible != nil && !n.Visible(p) {
			continue
		}
		i, ok := at[n.Section]
		if !ok {
			i = len(sections)
			at[n.Section] = i
			sections = append(sections, navSection{Label: n.Section, Folds: n.Section == lastSection})
		}
		isCurrent := n.Path == current.Path
		sections[i].Open = sections[i].Open || isCurrent
		sections[i].Entries = append(sections[i].Entries, navEntry{n.Label, n.Path, isCurrent, attention[n.Path]})
	}
	slices.SortStableFunc(sections, func(a, b navSection) int { return cmp.Compare(rank(a.Label), rank(b.Label)) })
	return sections, section
}

// sectionOrder is that of the services; other sections stand behind them.
var sectionOrder = []string{"", "Notifications", "Mail", "Threaded comments"}

func rank(section string) int {
	if section == lastSection {
		return len(sectionOrder) + 1
	}
	if i := slices.Index(sectionOrder, section); i >= 0 {
		return i
	}
	return len(sectionOrder)
}

// entryOf is the entry with the longest path that covers the page at path.
func (c *Console) entryOf(path string) (entry Nav) {
	path, _, _ = strings.Cut(path, "?")
	for _, n := range c.nav {
		if covers(n.Path, path) && len(n.Path) > len(entry.Path) {
			entry = n
		}
	}
	return entry
}

// above leads to the entry of the navigation, or of the menu, that covers the page at path.
func (c *Console) above(path string) []Link {
	if entry := c.entryOf(path); entry.Path != "" && entry.Path != "/" {
		return []Link{{Label: entry.Label, Path: entry.Path}}
	}
	for _, l := range c.menu {
		if covers(l.Path, path) {
			return []Link{l}
		}
	}
	return nil
}

// isSection reports whether entries of the navigation are below path.
func (c *Console) isSection(path string) bool {
	return path != "/" && slices.ContainsFunc(c.nav, func(n Nav) bool { return path != n.Path && covers(path, n.Path) })
}

// firstBelow is the first entry below path that p sees; "" where there is none.
func (c *Console) firstBelow(p *identity.Principal, path string) string {
	for _, n := range c.nav {
		if covers(path, n.Path) && (n.Visible == nil || n.Visible(p)) {
			return n.Path
		}
	}
	return ""
}

func covers(entry, path string) bool {
	return path == entry || entry != "/" && strings.HasPrefix(path, entry+"/")
}

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
