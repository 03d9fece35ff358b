package store

import (
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
