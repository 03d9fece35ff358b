package store_test

import (
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// A message is the last one of each of its rules, not only of the first.
func TestLastMessageOfRules(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		store.Save(t, s, store.SomeRule("one"), store.FlowURL("shared"))
		store.Save(t, s, store.SomeRule("two"), store.FlowURL("shared"))
		idle := store.SomeRule("idle")
		idle.Filter.BranchMask = "nothing/.*"
		store.Save(t, s, idle, store.FlowURL("shared"))
		ctx := store.As(t, identity.Grant{Permission: identity.Admin})
		states := func() map[string]notify.DeliveryState {
			t.Helper()
			rules, err := (&admin.Rules{Store: s}).Page(ctx, notify.RulePage{Level: notify.Global, Limit: 10})
			if err != nil || len(rules) != 3 {
				t.Fatalf("%d rules, %v", len(rules), err)
			}
			got := make(map[string]notify.DeliveryState)
			for _, r := range rules {
				if got[r.Name] = r.Last.State; r.Last.State != "" && r.Last.At.IsZero() {
					t.Errorf("the last message of %s has no time", r.Name)
				}
			}
			return got
		}
		expect := func(want notify.DeliveryState) {
			t.Helper()
			if got := states(); got["one"] != want || got["two"] != want || got["idle"] != "" {
				t.Errorf("the last messages are %v, want %q", got, want)
			}
		}

		expect("")
		store.Accept(t, s, store.Webhook("w1", *store.PushedTo("ATL", "canoe", "main", "ada")))
		if _, err := (&admin.Deliveries{Store: s}).DoAll(ctx, admin.Cancellation, notify.DeliveryFilter{}); err != nil {
			t.Fatal(err)
		}
		expect(notify.Cancelled)
		store.Accept(t, s, store.Webhook("w2", *store.PushedTo("ATL", "canoe", "main", "ada")))
		expect(notify.Waiting)
	})
}

// Rules of every level are listed and found by a part of their names.
func TestRulesAreFound(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for name, at := range map[string]notify.RepositoryRef{
			"Releases_1": {}, "100% of pushes": {ProjectKey: "ATL"}, "releases of Canoe": {ProjectKey: "ATL", RepositoryKey: "canoe"}, "Ärger": {},
		} {
			r := store.SomeRule(name)
			r.ProjectKey, r.RepositoryKey = at.ProjectKey, at.RepositoryKey
			store.Save(t, s, r, store.FlowURL("shared"))
		}
		asked := store.As(t, identity.Grant{Permission: identity.Admin})
		of := store.As(t, identity.Grant{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL"}})
		for _, c := range []struct {
			search string
			level  notify.Level
			want   string
		}{
			{"", "", "100% of pushes, Releases_1, releases of Canoe, Ärger"},
			{"RELEASES", "", "Releases_1, releases of Canoe"},
			{"releases", notify.RepositoryLevel, "releases of Canoe"},
			{"%", "", "100% of pushes"},
			{"s_", "", "Releases_1"},
			{`\`, "", ""},
			{"Ärg", "", "Ärger"},
		} {
			var names []string
			ask := notify.RulePage{Level: c.level, Search: c.search, Limit: 1}
			for { // page by page
				page, err := (&admin.Rules{Store: s}).Page(asked, ask)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				names = append(names, page[0].Name)
				ask.AfterName, ask.AfterID = page[0].Name, page[0].ID
			}
			if got := strings.Join(names, ", "); got != c.want {
				t.Errorf("%q of %q: %s, want %s", c.search, c.level, got, c.want)
			}
		}
		if mine, err := (&admin.Rules{Store: s}).Page(of, notify.RulePage{Limit: 10}); err != nil || len(mine) != 2 {
			t.Errorf("a project's administrator sees %d rules of every level: %v", len(mine), err)
		}
		other := store.Save(t, s, store.SomeRule("of another channel"), store.FlowURL("other"))
		ask := notify.RulePage{Channel: other.Channel.ID, Limit: 10}
		there, err := (&admin.Rules{Store: s}).Page(asked, ask)
		if err != nil || len(there) != 1 || there[0].ID != other.ID {
			t.Errorf("%d rules are listed of the other channel: %v", len(there), err)
		}
		if n, _, err := (&admin.Rules{Store: s}).Total(asked, ask, 10); err != nil || n != 1 {
			t.Errorf("%d rules are counted of the other channel: %v", n, err)
		}
	})
}
