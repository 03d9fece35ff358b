package store

import (
	"fmt"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Who administers one repository cannot fill the memory of every node with hooks.
func TestHooksOfAScopeAreLimited(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for i := range maxHooks {
			hookOf(t, s, fmt.Sprint("h", i), "ATL", "canoe")
		}
		one := notify.Hook{Connection: "dc", Name: "more", Scope: notify.Scope{ProjectKey: "atl", RepositoryKey: "CANOE"}}
		if _, err := s.CreateHook(t.Context(), ada, one); !fault.Is(err, fault.Conflict) {
			t.Errorf("one more than %d: %v", maxHooks, err)
		}
		hookOf(t, s, "of-another", "ATL", "kayak")
		hookOf(t, s, "of-the-project", "ATL", "")
		if err := s.DeleteHook(t.Context(), ada, "dc", "h0"); err != nil {
			t.Fatal(err)
		}
		hookOf(t, s, "again", "ATL", "canoe")
	})
}
