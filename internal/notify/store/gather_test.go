package store

import (
	"fmt"
	"testing"

	"outrigger/internal/notify"
)

func refDeleted(name string) notify.Event {
	e := *pushedTo("ATL", "canoe", name, "ada")
	e.Types, e.Ref = []notify.EventType{notify.BranchDeleted}, &notify.RefChange{Name: name}
	e.Repository.URL, e.URL = "https://code.example.com/canoe", "https://code.example.com/canoe/gone"
	return e
}

// A webhook that changes thousands of refs is one message a rule and kind, about
// the refs that the rule takes.
func TestManyRefsAreOneMessage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		rule := func(name, url, mask string, types ...notify.EventType) notify.RuleInfo {
			r := someRule(name)
			r.EventTypes, r.BranchMask = types, mask
			return save(t, s, r, flowURL(url))
		}
		rule("all", "a", "", notify.BranchDeleted, notify.TagCreated)
		rule("all, same channel", "a", "", notify.BranchDeleted)
		some := rule("some", "b", "feature/[0-4]", notify.BranchDeleted)
		rule("one", "c", "feature/7", notify.BranchDeleted)
		rule("none", "d", "main", notify.BranchDeleted)

		const branches = 5000
		w := webhook("w1")
		for i := range branches {
			w.Events = append(w.Events, refDeleted(fmt.Sprintf("feature/%d", i)))
		}
		for i := range 3 {
			e := refDeleted(fmt.Sprintf("v%d", i))
			e.Types, e.Ref.Tag = []notify.EventType{notify.TagCreated}, true
			w.Events = append(w.Events, e)
		}
		accept(t, s, w)
		got := map[string]int{}
		for _, d := range waiting(t, s) {
			e := d.Event
			key := fmt.Sprintf("%s %s, %d rules", e.Types[0], e.Branch, len(d.Rules))
			if e.Refs != nil {
				key = fmt.Sprintf("%s %d %d %s, %d rules", e.Types[0], e.Refs.Count, len(e.Refs.Names), e.URL, len(d.Rules))
			}
			got[key]++
		}
		want := map[string]int{
			"BRANCH_DELETED 5000 20 https://code.example.com/canoe, 2 rules": 1,
			"TAG_CREATED 3 3 https://code.example.com/canoe, 1 rules":        1,
			"BRANCH_DELETED 5 5 https://code.example.com/canoe, 1 rules":     1,
			"BRANCH_DELETED feature/7, 1 rules":                              1,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("deliveries %v, want %v", got, want)
		}
		if again := webhook("w1", w.Events...); !accept(t, s, again).Duplicate {
			t.Error("the same again is not recognised")
		}

		// A rule that another node saved meanwhile holds for it too.
		stale := newStore(t, s.db)
		some.BranchMask = "feature/[0-1]"
		save(t, s, some.Rule, "")
		later := webhook("w2", w.Events[:branches]...)
		accept(t, stale, later)
		for _, d := range waiting(t, s) {
			if d.ChannelID == some.ChannelID && d.Event.Refs.Count == 2 {
				return
			}
		}
		t.Error("the refs were not gathered by the rules of the commit")
	})
}

func TestAFewRefsAreAMessageEach(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := someRule("all")
		r.EventTypes = []notify.EventType{notify.BranchDeleted}
		save(t, s, r, flowURL("a"))
		w := webhook("w1")
		for i := range notify.MaxRefs {
			w.Events = append(w.Events, refDeleted(fmt.Sprint(i)))
		}
		accept(t, s, w)
		wantWaiting(t, s, notify.MaxRefs, "a message each")
	})
}
