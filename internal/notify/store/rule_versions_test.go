package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// rulesAt names the rules of a generation that could concern what is at a place,
// with what they were.
func rulesAt(t *testing.T, s *Store, generation int64, places ...notify.Scope) string {
	t.Helper()
	list, err := s.RulesAt(t.Context(), notify.VersionQuery{Generation: generation, Connection: "dc", Places: places, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range list {
		name := v.Name
		if !v.Enabled {
			name += "(off)"
		}
		if !v.Changed.IsZero() {
			name += "(until " + v.ChangedBy + ")"
		}
		if v.Deleted {
			name += "(gone)"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestRulesAreKnownAsTheyWere(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		var moments []int64
		now := func() { moments = append(moments, s.Rules().Generation) }
		now() // none yet
		r := save(t, s, someRule("one"), flowURL("a")).Rule
		now()
		r.Name, r.Version = "renamed", 0
		save(t, s, r, "")
		now()
		r.Enabled = false
		save(t, s, r, "")
		now()
		save(t, s, someRule("two"), flowURL("b"))
		now()
		if err := s.DeleteRule(t.Context(), notify.Actor{Name: "grace"}, r.ID, 0); err != nil {
			t.Fatal(err)
		}
		now()
		for i, want := range []string{
			"", "one(until ada)(gone)", "renamed(until ada)(gone)", "renamed(off)(until grace)(gone)", "renamed(off)(until grace)(gone) two", "two",
		} {
			if got := rulesAt(t, s, moments[i], notify.Scope{}); got != want {
				t.Errorf("moment %d: %q, want %q", i, got, want)
			}
		}
	})
}

// The keys of a rule that followed a rename are those of the moment, too.
func TestRulesAreKnownWhereTheyWere(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := someRule("mine")
		r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
		save(t, s, r, flowURL("a"))
		before := s.Rules().Generation
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		after := s.Rules().Generation
		old, now := notify.Scope{ProjectKey: "atl", RepositoryKey: "canoe"}, notify.Scope{ProjectKey: "atl", RepositoryKey: "proa"}
		if got := rulesAt(t, s, before, old, now); got != "mine(until dc)" {
			t.Errorf("before: %q", got)
		}
		if got := rulesAt(t, s, after, now); got != "mine" {
			t.Errorf("after: %q", got)
		}
		if got := rulesAt(t, s, after, old); got != "" {
			t.Errorf("after, at the old key: %q", got)
		}
	})
}

func TestRulesOfAMomentComeInPages(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		at := func(name, project, repository string) {
			r := someRule(name)
			r.ProjectKey, r.RepositoryKey = project, repository
			save(t, s, r, flowURL("a"))
		}
		at("g1", "", "")
		at("p1", "ATL", "")
		at("r1", "ATL", "canoe")
		at("g2", "", "")
		at("r2", "atl", "Canoe")
		at("other", "PAC", "")
		q := notify.VersionQuery{
			Generation: s.Rules().Generation, Connection: "dc", Limit: 2,
			Places: []notify.Scope{{ProjectKey: "atl", RepositoryKey: "canoe"}, {ProjectKey: "atl"}, {}},
		}
		var got []string
		for {
			page, err := s.RulesAt(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range page {
				got = append(got, v.Name)
			}
			if len(page) < q.Limit {
				break
			}
			last := page[len(page)-1]
			q.After.Rule = last.ID
			for i, p := range q.Places {
				if p == (notify.Scope{ProjectKey: notify.Fold(last.ProjectKey), RepositoryKey: notify.Fold(last.RepositoryKey)}) {
					q.After.Place = i
				}
			}
		}
		if want := "r1 r2 p1 g1 g2"; strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
		if n, err := s.CountRulesElsewhere(t.Context(), q); err != nil || n != 1 {
			t.Errorf("%d rules elsewhere, %v", n, err)
		}
		q.Generation--
		if n, err := s.CountRulesElsewhere(t.Context(), q); err != nil || n != 0 {
			t.Errorf("%d rules elsewhere before the last save, %v", n, err)
		}
	})
}

// A save that fails leaves no version behind, and neither does one of another
// rule.
func TestVersionsOfAFailedSave(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := save(t, s, someRule("one"), flowURL("a")).Rule
		stale := r
		r.ChannelName = "changed"
		save(t, s, r, "")
		if _, err := s.SaveRule(t.Context(), ada, stale, ""); err == nil {
			t.Fatal("a stale save went through")
		}
		if n := versionsKept(t, s); n != 1 {
			t.Errorf("%d versions, want that of the one save", n)
		}
	})
}

func versionsKept(t *testing.T, s *Store) (n int) {
	t.Helper()
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM notify_rule_versions`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What a rule was is kept as long as an event that was judged by it, however
// long that waits.
func TestVersionsGoWithTheirEvents(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := save(t, s, someRule("one"), flowURL("a")).Rule
		edit := func() {
			r.Version = 0
			r.Branches = append(r.Branches, "main")
			save(t, s, r, "")
		}
		edit() // a version that no event was judged by
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		edit() // one that w1 was
		edit()
		sweep := func(before time.Time, want int) {
			t.Helper()
			err := s.db.WriteBulk(t.Context(), func(tx *db.Tx) error {
				_, err := DeleteRuleVersions(t.Context(), tx, before, 100)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := versionsKept(t, s); n != want {
				t.Errorf("%d versions, want %d", n, want)
			}
		}
		later := time.Now().Add(time.Hour)
		sweep(time.Now().Add(-time.Hour), 3)
		sweep(later, 2)
		damage(t, s, fmt.Sprintf(`DELETE FROM notify_events WHERE generation < %d`, s.Rules().Generation))
		sweep(later, 0)
	})
}
