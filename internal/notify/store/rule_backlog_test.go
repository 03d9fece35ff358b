package store_test

import (
	"fmt"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// There may be more than was counted only where more wait than are looked at.
func TestMoreMayWaitOnlyAboveTheLimit(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		rule := store.Save(t, s, store.SomeRule("one"), store.FlowURL("a"))
		waits := 0
		accept := func(n int) {
			t.Helper()
			events := make([]notify.Event, n)
			for i := range events {
				events[i] = *store.PushedTo("ATL", "canoe", "main", "ada")
			}
			store.Accept(t, s, store.Webhook(fmt.Sprint("w", waits), events...))
			waits += n
		}
		listed := func(want notify.RuleBacklog) {
			t.Helper()
			rules, err := s.PageRules(t.Context(), notify.RulePage{Limit: 10, Visible: func(*notify.Rule) bool { return true }})
			if err != nil || len(rules) != 1 || rules[0].Backlog != want {
				t.Errorf("%d wait, and a list has %+v, %v", waits, rules, err)
			}
		}
		alone := func(want notify.RuleBacklog) {
			t.Helper()
			if one, err := s.Rule(t.Context(), rule.ID); err != nil || one.Backlog != want {
				t.Errorf("%d wait, and the rule has %+v, %v", waits, one.Backlog, err)
			}
		}
		accept(notify.MaxListed)
		listed(notify.RuleBacklog{Waiting: 100, Alone: 100})
		accept(1)
		listed(notify.RuleBacklog{Waiting: 100, Alone: 100, More: true})
		alone(notify.RuleBacklog{Waiting: 101, Alone: 101})
		accept(899)
		alone(notify.RuleBacklog{Waiting: 1000, Alone: 1000})
		accept(1)
		alone(notify.RuleBacklog{Waiting: 1000, Alone: 1000, More: true})
	})
}

// What waits is counted for each rule, though rules share a channel.
func TestWhatWaitsIsCountedForTheRule(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		all, some, idle := store.SomeRule("all"), store.SomeRule("some"), store.SomeRule("idle")
		some.Filter.BranchMask, idle.Filter.BranchMask = "release/.*", "nothing/.*"
		for _, r := range []notify.Rule{all, some, idle} {
			store.Save(t, s, r, store.FlowURL("shared"))
		}
		store.Accept(t, s, store.Webhook("w1", *store.PushedTo("ATL", "canoe", "main", "ada")))
		store.Accept(t, s, store.Webhook("w2", *store.PushedTo("ATL", "canoe", "release/1", "ada")))
		ctx := store.As(t, identity.Grant{Permission: identity.Admin})
		rules, err := (&admin.Rules{Store: s}).Page(ctx, notify.RulePage{Level: notify.Global, Limit: 10})
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
