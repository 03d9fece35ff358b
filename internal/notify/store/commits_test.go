package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

func pushOf(branch, hash string) notify.Event {
	e := *pushedTo("ATL", "canoe", branch, "ada")
	e.Ref = &notify.RefChange{Name: branch, To: hash}
	return e
}

func namedCommits(t *testing.T, s *Store, hash string) []notify.NamedCommit {
	t.Helper()
	list, err := s.NamedCommits(t.Context(), "dc", hash)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A commit is kept in the event's own commit, where a rule takes builds, once a
// repository; the last push counts.
func TestNamedCommits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		hash := fmt.Sprintf("%040x", 7)
		accept(t, s, webhook("before there is a rule", pushOf("main", hash)))
		if list := namedCommits(t, s, hash); len(list) != 0 {
			t.Errorf("no rule takes builds: %+v", list)
		}
		rule := someRule("builds")
		rule.EventTypes = []notify.EventType{notify.BuildStatusSet}
		save(t, s, rule, flowURL("a"))
		odd := pushOf("main", "no hash")
		accept(t, s, webhook("1", pushOf("next", hash), odd, *pushedTo("ATL", "canoe", "x", "ada")))
		fork := pushOf("main", hash)
		fork.Repository.Key = "Fork"
		accept(t, s, webhook("2", fork))
		list := namedCommits(t, s, hash)
		if len(list) != 2 || list[0].At.RepositoryKey != "canoe" || list[0].Branch != "next" || list[1].At.RepositoryKey != "Fork" {
			t.Fatalf("%+v", list)
		}
		if due, err := s.DueCommits(t.Context(), time.Now().Add(time.Hour), 9); err != nil || len(due) != 0 {
			t.Errorf("nobody can be asked: %+v, %v", due, err)
		}
		if list, err := s.NamedCommits(t.Context(), "other", hash); err != nil || len(list) != 0 {
			t.Errorf("of another connection: %+v, %v", list, err)
		}
	})
}

func TestScheduleOfCommits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		at := db.Time(db.Micros(time.Now()))
		name := func(n int, at time.Time) notify.NamedCommit {
			c := notify.NamedCommit{
				Connection: "dc", At: notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "canoe"}, Hash: fmt.Sprintf("%040x", n), NamedAt: at, DueAt: at,
			}
			if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
				return nameCommits(t.Context(), tx, []*notify.Receipt{{Commits: []notify.NamedCommit{c}}})
			}); err != nil {
				t.Fatal(err)
			}
			return c
		}
		due := func(at time.Time) []notify.NamedCommit {
			list, err := s.DueCommits(t.Context(), at, 10)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		first := name(1, at)
		for n := 2; n <= 5; n++ {
			name(n, at.Add(time.Duration(n)*time.Second))
		}
		first.DueAt, first.Asked = at.Add(time.Hour), 3
		if err := s.ScheduleCommit(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if list := due(at.Add(time.Minute)); len(list) != 4 || list[0].Hash != fmt.Sprintf("%040x", 2) {
			t.Errorf("due %+v", list)
		}
		if list := namedCommits(t, s, first.Hash); list[0] != first {
			t.Errorf("scheduled %+v, want %+v", list[0], first)
		}
		again := name(1, at.Add(time.Minute))
		first.DueAt = time.Time{}
		if err := s.ScheduleCommit(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if list := namedCommits(t, s, first.Hash); list[0] != again {
			t.Errorf("named again: %+v, want %+v", list[0], again)
		}
		stopped, err := s.KeepDue(t.Context(), "dc", 2)
		if list := due(at.Add(time.Hour)); err != nil || stopped != 3 || len(list) != 2 || list[0].Hash != fmt.Sprintf("%040x", 5) || list[1].Hash != first.Hash {
			t.Errorf("kept %+v, stopped %d, %v", list, stopped, err)
		}
		var n int64
		if err := s.db.Write(t.Context(), func(tx *db.Tx) (err error) {
			n, err = DeleteCommits(t.Context(), tx, at.Add(5*time.Second), 10)
			return err
		}); err != nil || n != 3 || len(namedCommits(t, s, first.Hash)) != 1 {
			t.Errorf("deleted %d, %v", n, err)
		}
	})
}
