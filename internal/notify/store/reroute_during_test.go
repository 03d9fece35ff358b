package store

import (
	"context"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// during begins do while a transaction of change is still open, and commits that
// once do waits for it, or has ended without.
func during(t *testing.T, s *Store, change func(ctx context.Context, tx *db.Tx) error, do func() error) {
	t.Helper()
	begun, commit, changed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		changed <- s.db.Write(t.Context(), func(tx *db.Tx) error {
			err := change(t.Context(), tx)
			close(begun)
			<-commit
			return err
		})
	}()
	<-begun
	go func() { done <- do() }()
	for s.db.Dialect() == db.Postgres && // SQLite has one writer, so do has to wait
		len(done) == 0 && count(t, s, `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE NOT l.granted AND a.datname = current_database()`) == 0 {
	}
	close(commit)
	for _, errs := range []chan error{changed, done} {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// changeURL is the transaction of a save that gives a rule another URL.
func (s *Store) changeURL(of notify.RuleInfo, url string) func(ctx context.Context, tx *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		if err := s.beginRulesChange(ctx, tx); err != nil {
			return err
		}
		r := of.Rule
		return s.saveRule(ctx, tx, ada, &r, &of, url)
	}
}

// expectWithRule fails unless the delivery waits where the rule sends now.
func expectWithRule(t *testing.T, s *Store, delivery, rule int64) {
	t.Helper()
	r, err := s.Rule(t.Context(), rule)
	if err != nil {
		t.Fatal(err)
	}
	if at, state := place(t, s, delivery); at != r.ChannelID || state != notify.Waiting {
		t.Errorf("it is %s on channel %d, want waiting on channel %d, where its rule sends", state, at, r.ChannelID)
	}
}

// A message is put back while another node gives its rule another URL.
func TestARedeliveryFollowsARuleThatIsBeingSaved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 1)
		if _, err := s.Cancel(t.Context(), ada, ids); err != nil {
			t.Fatal(err)
		}
		during(t, s, newStore(t, s.db).changeURL(one, flowURL("b")), func() error {
			_, err := s.Redeliver(t.Context(), ada, ids)
			return err
		})
		expectWithRule(t, s, ids[0], one.ID)
	})
}

// What kept a message on its channel refuses it, so that it follows its other
// rule, while another node gives that one another URL.
func TestADecisionFollowsARuleThatIsBeingSaved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two := save(t, s, masked("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
		accept(t, s, webhook("1", push("dev")))
		two = save(t, s, two.Rule, flowURL("b"))
		d := undecided(t, s)[0]
		during(t, s, newStore(t, s.db).changeURL(two, flowURL("c")), func() error {
			refused := []notify.Decision{{RuleID: one.ID}}
			return s.Settle(t.Context(), []*notify.Settlement{{Delivery: d, Decisions: refused}})
		})
		expectWithRule(t, s, d.ID, two.ID)
	})
}
