package store

import (
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
