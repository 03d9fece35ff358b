package store_test

import (
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

func TestExplainKnowsWhatWasDecidedLater(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		a := store.Save(t, s, store.Masked("a"), store.FlowURL("a")).ID
		b := store.Save(t, s, store.Masked("b"), store.FlowURL("a")).ID
		came(t, s, "dev", store.Push("dev"))
		if got := explain(t, s, "dev"); got != "a undecided; b undecided" {
			t.Errorf("at first: %q", got)
		}
		d := store.Undecided(t, s)[0]
		store.Settle(t, s, d, notify.Decision{RuleID: a, Member: "branchMask"})
		if got := explain(t, s, "dev"); got != "a refused branchMask: "+store.Backtracking+", dev; b undecided" {
			t.Errorf("half-way: %q", got)
		}
		store.Settle(t, s, d, notify.Decision{RuleID: b, Taken: true})
		if got := explain(t, s, "dev"); got != "a refused branchMask: "+store.Backtracking+", dev; b taken" {
			t.Errorf("at last: %q", got)
		}
	})
}
