package store

import (
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// A hook of one repository reports that it now has the key of another: nothing
// moves, no notification is sent, and an administrator is asked.
func TestAForgedRenameMovesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		own, victim notify.Scope
		KeyChange   *notify.Event
		later       *notify.Event
	}{
		"a repository": {notify.Scope{ProjectKey: "ATL", RepositoryKey: "canoe"}, notify.Scope{ProjectKey: "PAC", RepositoryKey: "vault"},
			repositoryMoved(notify.RepositoryRef{ProjectKey: "ATL", RepositoryKey: "canoe"}, notify.RepositoryRef{ProjectKey: "PAC", RepositoryKey: "vault"}), pushedTo("PAC", "vault", "main", "ada")},
		"a project": {notify.Scope{ProjectKey: "ATL", RepositoryKey: ""}, notify.Scope{ProjectKey: "PAC", RepositoryKey: ""}, projectRenamed("ATL", "PAC"), pushedTo("PAC", "vault", "main", "ada")},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				forger := hookOf(t, s, "forger", c.own.ProjectKey, c.own.RepositoryKey)
				own := ruleAt(t, s, "own", c.own.ProjectKey, c.own.RepositoryKey)
				ruleAt(t, s, "victim", c.victim.ProjectKey, c.victim.RepositoryKey)
				save(t, s, someRule("global"), flowURL("global"))
				grantAt(t, s, "ATL", "canoe")

				accept(t, s, cameBy(forger, webhook("rename", *c.KeyChange)))
				accept(t, s, cameBy(forger, webhook("later", *c.later)))
				if err := s.Accept(t.Context(), cameBy(forger, webhook("elsewhere", *pushedTo("SEC", "x", "main", "ada")))); !fault.Is(err, fault.Forbidden) {
					t.Errorf("outside what was offered too: %v", err)
				}
				wantWaiting(t, s, 0, "nobody is told of what is under the offered key")
				wantKeys(t, s, own, c.own.ProjectKey, c.own.RepositoryKey)
				if grants(t, s, "ATL", "canoe") != 1 || grants(t, s, "PAC", "") != 0 {
					t.Error("a grant moved")
				}
				if list := offered(t, s); len(list) != 1 || list[0].Reason != notify.OutOfScope || list[0].From != c.own || list[0].Hook != "forger" {
					t.Fatalf("offered %+v", list)
				}
				if err := s.DismissRename(t.Context(), ada, offered(t, s)[0].ID); err != nil {
					t.Fatal(err)
				}
				again := *c.later
				if err := s.Accept(t.Context(), cameBy(forger, webhook("dismissed", again))); !fault.Is(err, fault.Forbidden) {
					t.Errorf("after the dismissal: %v, want forbidden", err)
				}
			})
		})
	}
}

func TestAConfirmedRenameMovesAll(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "canoe", "ATL", "canoe")
		mine := ruleAt(t, s, "mine", "ATL", "canoe")
		grantAt(t, s, "ATL", "canoe")
		accept(t, s, cameBy(h, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa"))))
		accept(t, s, cameBy(h, webhook("w2", *repositoryRenamed("ATL", "proa", "waka")))) // before anybody decided
		list := offered(t, s)
		if len(list) != 1 || list[0].From != (notify.Scope{ProjectKey: "ATL", RepositoryKey: "canoe"}) || list[0].To != (notify.Scope{ProjectKey: "ATL", RepositoryKey: "waka"}) {
			t.Fatalf("offered %+v", list)
		}
		if err := s.ConfirmRename(t.Context(), ada, list[0].ID); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, s, mine, "ATL", "waka")
		if grants(t, s, "ATL", "waka") != 1 || grants(t, s, "ATL", "canoe") != 0 {
			t.Error("the grant did not move")
		}
		accept(t, s, cameBy(h, webhook("w3", *pushedTo("ATL", "waka", "main", "ada"))))
		wantWaiting(t, s, 1, "the scope of the hook moved too")
		if err := s.ConfirmRename(t.Context(), ada, list[0].ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("a second time: %v", err)
		}
		if err := s.DismissRename(t.Context(), ada, 99); !fault.Is(err, fault.NotFound) {
			t.Errorf("one that is not there: %v", err)
		}
	})
}

func TestAWideHookMovesRulesAndNoGrants(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "canoe", "ATL", "canoe")
		mine := ruleAt(t, s, "mine", "ATL", "canoe")
		grantAt(t, s, "ATL", "canoe")
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		wantKeys(t, s, mine, "ATL", "proa")
		wantWaiting(t, s, 1, "of the rename itself")
		accept(t, s, cameBy(h, webhook("w2", *pushedTo("ATL", "proa", "main", "ada"))))
		wantWaiting(t, s, 2, "the narrow hook followed")
		if grants(t, s, "ATL", "canoe") != 1 {
			t.Error("the grant moved on a webhook's word")
		}
		if list := offered(t, s); len(list) != 1 || list[0].Reason != notify.HasGrants {
			t.Fatalf("offered %+v", list)
		}
		accept(t, s, webhook("w3", *pushedTo("ATL", "proa", "next", "ada")))
		wantWaiting(t, s, 3, "an offer withholds nothing from a hook whose scope holds the new key")
	})
}

func TestNothingMovesOntoWhatIsThere(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := ruleAt(t, s, "one", "ATL", "canoe")
		ruleAt(t, s, "two", "ATL", "proa")
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		wantKeys(t, s, one, "ATL", "canoe")
		grantAt(t, s, "PAC", "x")
		accept(t, s, webhook("w2", *projectRenamed("ATL", "PAC")))
		wantKeys(t, s, one, "ATL", "canoe")
		for _, o := range offered(t, s) {
			if o.Reason != notify.Occupied {
				t.Errorf("offered %+v", o)
			}
		}
		if n := len(offered(t, s)); n != 2 {
			t.Errorf("%d offered, want 2", n)
		}
	})
}

// The platform sends one event to the hook of the repository and to that of the
// project. What the narrow one withholds is not lost.
func TestWhatIsWithheldComesInByAWiderHook(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		h := hookOf(t, s, "canoe", "ATL", "canoe")
		mine := ruleAt(t, s, "mine", "ATL", "canoe")
		one := cameBy(h, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		same := webhook("w2", *repositoryRenamed("ATL", "canoe", "proa"))
		same.Digest = one.Digest
		accept(t, s, one)
		if accept(t, s, same); same.Duplicate {
			t.Error("the wider hook's counts as seen")
		}
		wantKeys(t, s, mine, "ATL", "proa")
		again := cameBy(h, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		if accept(t, s, again); !again.Duplicate {
			t.Error("the same request id counts as new")
		}
	})
}
