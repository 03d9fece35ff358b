package store

import (
	"testing"
	"testing/synctest"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// The save of a rule and an event matched against it may be in one group
// commit. When that fails, the rule was never there.
func TestRulesOfAFailedCommitAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // on SQLite: PostgreSQL sees nothing before it is committed
		d := dbtest.SQLite(t)
		if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, Migrations); err != nil {
			t.Fatal(err)
		}
		s := newStore(t, d)
		busy, go1 := make(chan struct{}), make(chan struct{})
		errs := make(chan error, 4)
		go func() { // keeps the writer busy while the others queue up
			errs <- s.db.Write(t.Context(), func(*db.Tx) error { close(busy); <-go1; return nil })
		}()
		<-busy
		queue := func(fn func() error) {
			go func() { errs <- fn() }()
			synctest.Wait() // it is in the queue
		}
		queue(func() error {
			_, err := s.SaveRule(t.Context(), ada, someRule("never"), flowURL("a"))
			return err
		})
		queue(func() error {
			return s.Accept(t.Context(), webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		})
		queue(func() error {
			return s.db.Write(t.Context(), func(tx *db.Tx) error {
				if _, err := tx.Exec(t.Context(), `PRAGMA defer_foreign_keys = 1`); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), `UPDATE notify_rules SET channel_id = 999`) // the commit fails
				return err
			})
		})
		close(go1)
		failed := 0
		for range 4 {
			if <-errs != nil {
				failed++
			}
		}
		if failed != 3 {
			t.Fatalf("%d of the writes failed, want the 3 of one group", failed)
		}
		if n := s.Rules().Len(); n != 0 {
			t.Errorf("%d rules hold that were never saved", n)
		}
		save(t, s, someRule("saved"), flowURL("b"))
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada")))
		list := waiting(t, s)
		if len(list) != 1 || len(list[0].Rules) != 1 {
			t.Fatalf("%d deliveries, want 1", len(list))
		}
		if _, err := s.Rule(t.Context(), list[0].Rules[0]); err != nil {
			t.Errorf("it was matched against a rule that is not there: %v", err)
		}
	})
}

// When a save returns, this node sends by it: "disabling stops at once".
func TestRulesHoldHereWhenTheSaveReturns(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := save(t, s, someRule("one"), flowURL("a"))
		if !s.Rules().Enabled(&notify.Delivery{Rules: []int64{info.ID}}) {
			t.Error("the new rule is not there yet")
		}
		info.Enabled = false
		info = save(t, s, info.Rule, "")
		if s.Rules().Enabled(&notify.Delivery{Rules: []int64{info.ID}}) {
			t.Error("the disabled rule still counts")
		}
		info.Enabled = true
		save(t, s, info.Rule, "")
		if err := s.DeleteRule(t.Context(), ada, info.ID, 0); err != nil {
			t.Fatal(err)
		}
		if s.Rules().Enabled(&notify.Delivery{Rules: []int64{info.ID}}) {
			t.Error("the deleted rule still counts")
		}
	})
}

// Another node saved a rule: the commit of a result brings it here, so that
// no more than one message is sent by the rules of before.
func TestAResultBringsTheRulesOfOtherNodes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has no other nodes
		}
		name, fence := hold(t, s)
		one := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		other := newStore(t, s.db)
		d := waiting(t, s)[0]
		save(t, other, one.Rule, flowURL("b"))
		if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: []*notify.Delivery{d}, State: notify.Waiting, Lease: name, Fence: fence}); err != nil {
			t.Fatal(err)
		}
		if s.Rules().On(d) || !s.Rules().On(waiting(t, s)[0]) {
			t.Error("this node still sends to the old channel")
		}
	})
}

// Only what changed is read and compiled again.
func TestUnchangedRulesAreKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("b"))
		before := s.Rules()
		two.ChannelName = "changed"
		save(t, s, two.Rule, "")
		after := s.Rules()
		if before == after || before.Rule(one.ID) != after.Rule(one.ID) || before.Rule(two.ID) == after.Rule(two.ID) {
			t.Error("the rule that was saved, and only that one, is to be read again")
		}
	})
}
