package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Of administrators who save one version of a rule at once, one makes the next;
// the others are told which member changed, and to what.
func TestSavesOfARuleAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		made := save(t, s, someRule("as it was"), flowURL("a"))
		const savers = 8
		var wait sync.WaitGroup
		saved, refused := make(chan notify.RuleInfo, savers), make(chan error, savers)
		for i := range savers {
			draft := someRule(fmt.Sprintf("saved %d", i))
			draft.ID, draft.Version = made.ID, made.Version
			wait.Go(func() {
				if info, err := s.SaveRule(t.Context(), ada, draft, ""); err != nil {
					refused <- err
				} else {
					saved <- info
				}
			})
		}
		wait.Wait()
		close(refused)
		if len(saved) != 1 {
			t.Fatalf("%d saves went through, want one", len(saved))
		}
		now := <-saved
		if now.Version != made.Version+1 {
			t.Errorf("the save made version %d of %d", now.Version, made.Version)
		}
		for err := range refused {
			var stale *notify.StaleRule
			want := notify.RuleChange{Member: "name", Before: "as it was", After: now.Name}
			if !fault.Is(err, fault.Conflict) || !errors.As(err, &stale) || len(stale.Changes) != 1 || stale.Changes[0] != want || stale.Now.Version != now.Version {
				t.Errorf("refused with %v; it says %+v", err, stale)
			}
		}
	})
}
