package notify

import (
	"encoding/binary"
	"fmt"
)

// MaxRefs is how many refs a webhook may change with a message each. Beyond it
// there is one message a rule and kind: a clean-up of 5,000 branches is one
// piece of news, and as many messages would hold their channel for 83 minutes.
const MaxRefs = 20

// Refs are the branches or tags of a webhook that changed many, as far as one
// rule takes them.
type Refs struct {
	Count int      `json:"count"`
	Names []string `json:"names"` // display names of the first MaxRefs
	// Candidates are all of them, where which ones a rule takes is undecided.
	Candidates []string `json:"candidates,omitempty"`
}

// GroupsRefs reports whether the webhook changes so many refs that they share
// messages.
func (r *Receipt) GroupsRefs() bool {
	if len(r.Events) <= MaxRefs {
		return false
	}
	for i := range r.Events {
		if r.Events[i].Ref == nil {
			return false
		}
	}
	return true
}

// groupRefs makes one event of each kind, and one of each part of a kind that a
// rule's filters take of it.
func (r *Receipt) groupRefs(rules *RuleSet) {
	g := refGroups{receipt: r, events: make(map[part]int)}
	all := make(map[EventType][]int)
	var kinds []EventType
	taken := make(map[ofRule][]int)
	var order []ofRule
	for i := range r.Events {
		kind := r.Events[i].Types[0]
		if all[kind] == nil {
			kinds = append(kinds, kind)
		}
		all[kind] = append(all[kind], i)
		if r.withheld {
			continue
		}
		for _, match := range rules.Match(&r.Events[i], nil) {
			key := ofRule{match, kind}
			if taken[key] == nil {
				order = append(order, key)
			}
			taken[key] = append(taken[key], i)
		}
	}
	r.Kept, r.Matched = nil, nil
	for _, kind := range kinds {
		g.event(kind, all[kind], "")
	}
	for _, key := range order {
		i := g.event(key.kind, taken[key], key.match.openMasks())
		r.Matched[i] = append(r.Matched[i], key.match)
	}
}

type ofRule struct {
	match Match
	kind  EventType
}

// part is the refs of one kind, by their places in the webhook. Where masks are
// to decide which of them a rule takes, rules with the same masks share it.
type part struct {
	kind  EventType
	refs  string
	masks string
}

// openMasks names the masks that are to decide which refs the rule takes.
func (m *Match) openMasks() string {
	var open []byte
	for _, mask := range m.maskMembers() {
		if m.Open.Has(mask.condition) {
			open = fmt.Appendf(open, "%s %q ", mask.condition, mask.pattern)
		}
	}
	return string(open)
}

type refGroups struct {
	receipt *Receipt
	events  map[part]int // where in kept
}

// event returns the place of the event about some refs of a kind, which it makes
// where there is none yet.
func (g *refGroups) event(kind EventType, refs []int, masks string) int {
	var places []byte
	for _, i := range refs {
		places = binary.AppendUvarint(places, uint64(i))
	}
	at := part{kind, string(places), masks}
	if i, ok := g.events[at]; ok {
		return i
	}
	r := g.receipt
	e := r.Events[refs[0]]
	if len(refs) > 1 {
		e.Types = []EventType{kind}
		e.Branch, e.Ref, e.Commits, e.CommitCount, e.URL = "", nil, nil, 0, e.Repository.URL
		e.Refs = &Refs{Count: len(refs)}
		for _, i := range refs[:min(len(refs), MaxRefs)] {
			e.Refs.Names = append(e.Refs.Names, r.Events[i].Branch)
		}
		for _, i := range refs {
			if masks != "" {
				e.Refs.Candidates = append(e.Refs.Candidates, r.Events[i].Branch)
			}
		}
	}
	i := len(r.Kept)
	r.Kept, r.Matched = append(r.Kept, e), append(r.Matched, nil)
	g.events[at] = i
	return i
}

// narrow returns the event of many refs as it is of some of them.
func (e *Event) narrow(names []string) *Event {
	left := *e
	left.Refs = &Refs{Count: len(names), Names: names[:min(len(names), MaxRefs)]}
	if len(names) == 1 {
		left.Refs, left.Branch = nil, names[0]
		left.Ref = &RefChange{Name: names[0], Tag: NewTypeSet(TagCreated, TagUpdated, TagDeleted).Any(e.TypeSet())}
	}
	return &left
}
