package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// sent is one webhook of one body.
type sent struct {
	after   time.Duration // since the first
	key, id string
	repeats int // which one of the list, from 1 on; 0: it is new
}

func sendEach(t *testing.T, s *Store, list []sent) {
	t.Helper()
	began := time.Now()
	ids := make([]int64, len(list)+1)
	for i, w := range list {
		r := webhook(w.id, *pushedTo("ATL", "canoe", "main", "ada"))
		r.Key, r.Digest, r.ReceivedAt = w.key, []byte("body"), began.Add(w.after)
		if accept(t, s, r); r.Duplicate != (w.repeats > 0) || r.DuplicateOf != ids[w.repeats] {
			t.Errorf("%d: %s %q after %s: duplicate %t, of %d, want it of %d", i+1, w.key, w.id, w.after, r.Duplicate, r.DuplicateOf, ids[w.repeats])
		}
		if !r.Duplicate {
			ids[i+1] = r.Deliveries[0].EventID
		}
	}
}

// As long as its event is kept a request id names it, however often the body
// has come since under others.
func TestAnOldRequestIDIsNotForgotten(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("all"), flowURL("a"))
		const key = "repo:refs_changed"
		sendEach(t, s, []sent{
			{0, key, "first", 0},
			{11 * time.Minute, key, "second", 0},
			{12 * time.Minute, key, "first", 2}, // whose body came a minute ago
			{22 * time.Minute, key, "", 0},
			{23 * time.Minute, key, "", 4},
			{33 * time.Minute, key, "third", 0},
			{24 * time.Hour, key, "first", 1},
			{24 * time.Hour, key, "second", 2},
			{24 * time.Hour, key, "third", 6},
			{24 * time.Hour, key, "", 0},
			{24*time.Hour + 9*time.Minute, key, "fourth", 10},
		})
	})
}

// A body that says two things by its keys is both, each once.
func TestTheSameBodyUnderTwoKeysIsTwice(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("all"), flowURL("a"))
		sendEach(t, s, []sent{
			{0, "repo:created", "1", 0},
			{time.Second, "repo:opened", "2", 0},
			{time.Minute, "repo:created", "3", 1},
			{time.Minute, "repo:opened", "4", 2},
			{11 * time.Minute, "repo:created", "5", 0},
			{12 * time.Minute, "repo:opened", "2", 2},
			{12 * time.Minute, "repo:created", "6", 5},
		})
	})
}

// Of what two nodes take at a time each is kept once, also where an older event
// of the same body has to make way.
func TestConcurrentRepeatsOfAnOldBody(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("all"), flowURL("a"))
		nodes := []*Store{s, newStore(t, s.db)}
		const bodies, keys = 10, 4 // the more bodies, the surer that two nodes meet
		for body := range bodies {
			send := func(by *Store, key, id string, at time.Time) bool {
				r := webhook(id, *pushedTo("ATL", "canoe", "main", "ada"))
				r.Key, r.Digest, r.ReceivedAt = key, fmt.Append(nil, "body ", body), at
				if err := by.Accept(t.Context(), r); err != nil {
					t.Error(err)
				}
				return !r.Duplicate
			}
			send(s, "old", "old", time.Now().Add(-time.Hour))
			var wait sync.WaitGroup
			var fresh [keys]atomic.Int32
			for i := range 4 * keys {
				wait.Go(func() {
					if send(nodes[i/keys%2], fmt.Sprint("key-", i%keys), fmt.Sprint("id-", i), time.Now()) {
						fresh[i%keys].Add(1)
					}
				})
			}
			wait.Wait()
			for key := range fresh {
				if n := fresh[key].Load(); n != 1 {
					t.Errorf("%d of key-%d are new, want 1", n, key)
				}
			}
		}
		wantWaiting(t, s, bodies*(1+keys), "the old one and one of each key")
	})
}
