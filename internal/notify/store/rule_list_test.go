package store

import (
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// A message is the last one of each of its rules, not only of the first.
func TestLastMessageOfRules(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("shared"))
		save(t, s, someRule("two"), flowURL("shared"))
		idle := someRule("idle")
		idle.Filter.BranchMask = "nothing/.*"
		save(t, s, idle, flowURL("shared"))
		ctx := as(t, identity.Grant{Permission: identity.Admin})
		states := func() map[string]notify.DeliveryState {
			t.Helper()
			rules, err := (&notify.Rules{Store: s}).Page(ctx, notify.RulePage{Level: notify.Global, Limit: 10})
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
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		if _, err := (&notify.Deliveries{Store: s}).CancelAll(ctx, notify.DeliveryFilter{}); err != nil {
			t.Fatal(err)
		}
		expect(notify.Cancelled)
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada")))
		expect(notify.Waiting)
	})
}

// Rules of every level are listed and found by a part of their names.
func TestRulesAreFound(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for name, at := range map[string]notify.RepositoryRef{
			"Releases_1": {}, "100% of pushes": {ProjectKey: "ATL"}, "releases of Canoe": {ProjectKey: "ATL", RepositoryKey: "canoe"}, "Ärger": {},
		} {
			r := someRule(name)
			r.ProjectKey, r.RepositoryKey = at.ProjectKey, at.RepositoryKey
			save(t, s, r, flowURL("shared"))
		}
		admin := as(t, identity.Grant{Permission: identity.Admin})
		of := as(t, identity.Grant{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL"}})
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
				page, err := (&notify.Rules{Store: s}).Page(admin, ask)
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
		if mine, err := (&notify.Rules{Store: s}).Page(of, notify.RulePage{Limit: 10}); err != nil || len(mine) != 2 {
			t.Errorf("a project's administrator sees %d rules of every level: %v", len(mine), err)
		}
	})
}
