package store

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// A webhook that names another new key makes another offer, so that what an
// administrator confirms is what was read.
func TestAnotherTargetIsAnotherOffer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "atl", "ATL", "")
		mine := ruleAt(t, s, "mine", "ATL", "")
		accept(t, s, cameBy(h, webhook("w1", *projectRenamed("ATL", "NEW"))))
		read := offered(t, s)[0]
		accept(t, s, cameBy(h, webhook("w2", *projectRenamed("ATL", "SHOP"))))
		err := s.ConfirmRename(t.Context(), ada, read.ID)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "SHOP") {
			t.Errorf("what was read is confirmed after it changed: %v, want a conflict that names SHOP", err)
		}
		wantKeys(t, s, mine, "ATL", "")
		if err := s.DismissRename(t.Context(), ada, read.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("dismissed: %v", err)
		}
		list := offered(t, s)
		if len(list) != 1 || list[0].ID == read.ID || list[0].To.ProjectKey != "SHOP" {
			t.Fatalf("offered %+v", list)
		}
		accept(t, s, cameBy(h, webhook("w3", *projectRenamed("ATL", "shop"))))
		if again := offered(t, s); len(again) != 1 || again[0].ID != list[0].ID {
			t.Errorf("the same said again is another offer: %+v", again)
		}
	})
}

// What was renamed back is where it was: no offer is left of it, however often.
func TestRenamedBackLeavesNoOffer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "atl", "ATL", "")
		mine := ruleAt(t, s, "mine", "ATL", "")
		ruleAt(t, s, "theirs", "SHOP", "")
		for i := range 3 {
			n := strings.Repeat("x", i)
			accept(t, s, cameBy(h, webhook("w1"+n, *projectRenamed("ATL", "NEW"))))
			read := offered(t, s)
			if len(read) != 1 || read[0].To.ProjectKey != "NEW" {
				t.Fatalf("offered %+v", read)
			}
			if i == 1 {
				accept(t, s, cameBy(h, webhook("w2"+n, *projectRenamed("NEW", "NEWER"))))
				accept(t, s, cameBy(h, webhook("w3"+n, *projectRenamed("NEWER", "ATL"))))
			} else {
				accept(t, s, cameBy(h, webhook("w4"+n, *projectRenamed("NEW", "atl"))))
			}
			if left := offered(t, s); len(left) != 0 {
				t.Fatalf("renamed back, and offered %+v", left)
			}
			if err := s.ConfirmRename(t.Context(), ada, read[0].ID); !fault.Is(err, fault.Conflict) {
				t.Errorf("confirmed: %v, want a conflict", err)
			}
			wantKeys(t, s, mine, "ATL", "")
		}
	})
}

// Rules that moved without their permissions come back to them, and nothing is left to
// decide, however often and by whichever hook that may speak of both keys.
func TestRenamedBackToItsPermissions(t *testing.T) {
	for name, c := range map[string]struct {
		there []*notify.Event // away from ATL/canoe
		back  []*notify.Event
	}{
		"a repository": {[]*notify.Event{repositoryRenamed("ATL", "canoe", "proa")}, []*notify.Event{repositoryRenamed("ATL", "proa", "canoe")}},
		"by a detour": {[]*notify.Event{repositoryRenamed("ATL", "canoe", "proa"), repositoryRenamed("ATL", "proa", "waka")},
			[]*notify.Event{repositoryRenamed("ATL", "waka", "canoe")}},
		"a project": {[]*notify.Event{projectRenamed("ATL", "PAC")}, []*notify.Event{projectRenamed("PAC", "atl")}},
		"by and by": {[]*notify.Event{projectRenamed("ATL", "PAC"), projectRenamed("PAC", "SHOP")}, []*notify.Event{projectRenamed("SHOP", "PAC"), projectRenamed("PAC", "ATL")}},
	} {
		for _, other := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", another hook says it: ", other), func(t *testing.T) {
				eachStore(t, func(t *testing.T, s *Store) {
					mine := ruleAt(t, s, "mine", "ATL", "canoe")
					second := ruleAt(t, s, "second", "ATL", "canoe")
					grantAt(t, s, "ATL", "canoe")
					grantTo(t, s, "eve", "ATL", "canoe")
					by := func(says string, e *notify.Event) *notify.Receipt { return webhook(says, *e) }
					if other {
						wide := hookOf(t, s, "wide", "", "")
						by = func(says string, e *notify.Event) *notify.Receipt { return cameBy(wide, webhook(says, *e)) }
					}
					for turn := range 3 {
						for i, e := range c.there {
							accept(t, s, webhook(fmt.Sprint("there ", turn, i), *e))
						}
						list := offered(t, s)
						if len(list) != 1 || list[0].Reason != notify.HasGrants || list[0].There.Any() || foldKey(notify.RepositoryRef(list[0].From)) == foldKey(keyOf(t, s, mine)) {
							t.Fatalf("turn %d: offered %+v, the rule is of %v", turn, list, keyOf(t, s, mine))
						}
						for i, e := range c.back {
							accept(t, s, by(fmt.Sprint("back ", turn, i), e))
						}
						if left := offered(t, s); len(left) != 0 {
							t.Fatalf("turn %d: back, and offered %+v", turn, left)
						}
						for _, rule := range []notify.RuleInfo{mine, second} {
							if at := keyOf(t, s, rule); foldKey(at) != foldKey(notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "canoe"}) {
								t.Fatalf("turn %d: a rule is of %v", turn, at)
							}
						}
						if n := grants(t, s, "ATL", "canoe"); n != 2 {
							t.Fatalf("turn %d: %d of 2 permissions are there", turn, n)
						}
					}
				})
			})
		}
	}
}

// keyOf is what a rule is of now.
func keyOf(t *testing.T, s *Store, rule notify.RuleInfo) notify.RepositoryRef {
	t.Helper()
	now, err := s.Rule(t.Context(), rule.ID)
	if err != nil {
		t.Fatal(err)
	}
	return notify.RepositoryRef{ProjectKey: now.ProjectKey, RepositoryKey: now.RepositoryKey}
}

// What others have at the old key since keeps the rules from coming back to it.
func TestRenamedBackOntoOthers(t *testing.T) {
	for name, came := range map[string]func(*testing.T, *Store){
		"a rule":       func(t *testing.T, s *Store) { ruleAt(t, s, "later", "ATL", "canoe") },
		"a permission": func(t *testing.T, s *Store) { grantTo(t, s, "eve", "ATL", "canoe") },
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				mine := ruleAt(t, s, "mine", "ATL", "canoe")
				grantAt(t, s, "ATL", "canoe")
				accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
				came(t, s)
				accept(t, s, webhook("w2", *repositoryRenamed("ATL", "proa", "canoe")))
				wantKeys(t, s, mine, "ATL", "proa")
				if list := offered(t, s); len(list) != 1 || list[0].Reason != notify.Occupied || list[0].From.RepositoryKey != "proa" {
					t.Errorf("offered %+v", list)
				}
			})
		})
	}
}

// A rename that a narrow hook could only offer is done when a wider one says it, and is
// not offered any more; nor is it after the rename back.
func TestAWiderHookEndsAnOffer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		narrow := hookOf(t, s, "canoe", "ATL", "canoe")
		mine := ruleAt(t, s, "mine", "ATL", "canoe")
		for turn := range 2 {
			accept(t, s, cameBy(narrow, webhook(fmt.Sprint("narrow ", turn), *repositoryRenamed("ATL", "canoe", "proa"))))
			if list := offered(t, s); len(list) != 1 || list[0].Reason != notify.OutOfScope {
				t.Fatalf("offered %+v", list)
			}
			accept(t, s, webhook(fmt.Sprint("wide ", turn), *repositoryRenamed("ATL", "canoe", "proa")))
			wantKeys(t, s, mine, "ATL", "proa")
			if list := offered(t, s); len(list) != 0 {
				t.Errorf("done, and offered %+v", list)
			}
			accept(t, s, webhook(fmt.Sprint("back ", turn), *repositoryRenamed("ATL", "proa", "canoe")))
			wantKeys(t, s, mine, "ATL", "canoe")
			if list := offered(t, s); len(list) != 0 {
				t.Errorf("back, and offered %+v", list)
			}
		}
	})
}

// What stands at the new key is counted, whatever else an offer waits for, and
// nothing is confirmed onto it.
func TestAnOccupiedKeyIsNotConfirmed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "atl", "ATL", "")
		mine := ruleAt(t, s, "mine", "ATL", "")
		theirs := ruleAt(t, s, "theirs", "SHOP", "cart")
		hookOf(t, s, "shop", "SHOP", "")
		grantAt(t, s, "ATL", "canoe")
		accept(t, s, cameBy(h, webhook("w1", *projectRenamed("ATL", "SHOP"))))
		o := offered(t, s)[0]
		if o.Reason != notify.OutOfScope || o.There != (notify.Occupants{Rules: 1, Hooks: 1}) {
			t.Fatalf("offered %+v", o)
		}
		err := s.ConfirmRename(t.Context(), ada, o.ID)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "1 rule and 1 hook") {
			t.Errorf("confirmed: %v, want a conflict that says what is there", err)
		}
		wantKeys(t, s, mine, "ATL", "")
		if grants(t, s, "ATL", "canoe") != 1 {
			t.Error("a grant moved")
		}
		if err := s.DeleteRule(t.Context(), ada, theirs.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteHook(t.Context(), ada, "dc", "shop"); err != nil {
			t.Fatal(err)
		}
		if err := s.ConfirmRename(t.Context(), ada, o.ID); err != nil {
			t.Fatalf("when nothing is there any more: %v", err)
		}
		wantKeys(t, s, mine, "SHOP", "")
	})
}

// Grants follow rules that moved already, but not onto the grants of others.
func TestGrantsAreNotConfirmedOntoOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ruleAt(t, s, "mine", "ATL", "canoe")
		grantAt(t, s, "ATL", "canoe")
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		o := offered(t, s)[0]
		if o.Reason != notify.HasGrants || o.There != (notify.Occupants{}) {
			t.Fatalf("offered %+v", o)
		}
		grantTo(t, s, "eve", "ATL", "proa")
		if err := s.ConfirmRename(t.Context(), ada, o.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("confirmed: %v, want a conflict", err)
		}
		if grants(t, s, "ATL", "canoe") != 1 || grants(t, s, "ATL", "proa") != 1 {
			t.Error("a grant moved")
		}
	})
}

// A repository that came to the old key later keeps its rules when only grants
// are still to move.
func TestOnlyGrantsFollowLater(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		ruleAt(t, s, "mine", "ATL", "canoe")
		grantAt(t, s, "ATL", "canoe")
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		later := ruleAt(t, s, "later", "ATL", "canoe")
		if err := s.ConfirmRename(t.Context(), ada, offered(t, s)[0].ID); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, s, later, "ATL", "canoe")
		if grants(t, s, "ATL", "proa") != 1 {
			t.Error("the grant did not move")
		}
	})
}
