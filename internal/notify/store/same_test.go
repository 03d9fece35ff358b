package store

import (
	"testing"

	"outrigger/internal/notify"
)

// A request id is not signed: it suppresses what is word for word the same, and
// nothing else.
func TestARequestIDNamesOneBody(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("all"), flowURL("a"))
		forger := hookOf(t, s, "forger", "ATL", "")
		send := func(by notify.Hook, key, id, body string, duplicate bool) {
			t.Helper()
			r := webhook(id, *pushedTo("ATL", "canoe", "main", "ada"))
			r.Key, r.Digest = key, []byte(body)
			if accept(t, s, cameBy(by, r)); r.Duplicate != duplicate {
				t.Errorf("%s %s %s: duplicate %t, want %t", key, id, body, r.Duplicate, duplicate)
			}
		}
		send(forger, "repo:refs_changed", "id-1", "one", false)
		send(notify.Hook{}, "repo:refs_changed", "id-1", "two", false)
		send(notify.Hook{}, "repo:refs_changed", "id-1", "three", false)
		send(notify.Hook{}, "repo:refs_changed", "id-1", "two", true)
		send(notify.Hook{}, "pr:opened", "id-1", "two", true) // whatever an unsigned header calls it
		send(notify.Hook{}, "repo:refs_changed", "id-2", "three", true)
		wantWaiting(t, s, 3, "one of each body")
	})
}
