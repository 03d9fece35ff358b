package store

import (
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// What waits is counted for each rule, though rules share a channel.
func TestWhatWaitsIsCountedForTheRule(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		all, some, idle := someRule("all"), someRule("some"), someRule("idle")
		some.Filter.BranchMask, idle.Filter.BranchMask = "release/.*", "nothing/.*"
		for _, r := range []notify.Rule{all, some, idle} {
			save(t, s, r, flowURL("shared"))
		}
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "release/1", "ada")))
		ctx := as(t, identity.Grant{Permission: identity.Admin})
		rules, err := (&notify.Rules{Store: s}).Page(ctx, notify.RulePage{Level: notify.Global, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]notify.RuleBacklog{"all": {Waiting: 2, Alone: 1}, "some": {Waiting: 1}, "idle": {}}
		for _, r := range rules {
			if r.Backlog != want[r.Name] || r.Channel.Waiting != 2 {
				t.Errorf("%s: %+v of %d on the channel, want %+v of 2", r.Name, r.Backlog, r.Channel.Waiting, want[r.Name])
			}
			if one, err := s.Rule(t.Context(), r.ID); err != nil || one.Backlog != want[r.Name] {
				t.Errorf("%s by itself: %+v, %v", r.Name, one.Backlog, err)
			}
		}
	})
}
