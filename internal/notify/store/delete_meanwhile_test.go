package store

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// deletions delete what a webhook of the connection "second" comes in by: whole, on
// a node, or what of it the webhook's commit reads, in a transaction.
var deletions = []struct {
	name   string
	delete func(t *testing.T, s *Store, rule int64) error
	begin  func(ctx context.Context, s *Store, tx *db.Tx) error

	// When the webhook was committed first: the states of its messages. When not:
	// how it is refused, and whether it is in the log all the same.
	messages string
	refused  fault.Code
	logged   int
}{
	{
		name:   "rule",
		delete: func(t *testing.T, s *Store, rule int64) error { return s.DeleteRule(t.Context(), ada, rule, 0) },
		begin: func(ctx context.Context, s *Store, tx *db.Tx) error {
			if err := s.beginRulesChange(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DELETE FROM notify_rules`)
			return err
		},
		messages: "c", logged: 1,
	},
	{
		name:   "hook",
		delete: func(t *testing.T, s *Store, _ int64) error { return s.DeleteHook(t.Context(), ada, "second", "canoe") },
		begin: func(ctx context.Context, s *Store, tx *db.Tx) error {
			if err := s.beginPlatformsChange(ctx, tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DELETE FROM notify_hooks WHERE name = 'canoe'`)
			return err
		},
		messages: "w", refused: fault.NotFound,
	},
	{
		name: "connection",
		delete: func(t *testing.T, s *Store, rule int64) error {
			if err := s.DeleteRule(t.Context(), ada, rule, 0); err != nil { // which it may not have
				return err
			}
			return s.DeleteConnection(t.Context(), ada, "second", 0)
		},
		begin: func(ctx context.Context, s *Store, tx *db.Tx) error {
			if err := s.beginPlatformsChange(ctx, tx); err != nil {
				return err
			}
			for _, q := range []string{`DELETE FROM notify_rules`, `DELETE FROM notify_connections WHERE name = 'second'`} {
				if _, err := tx.Exec(ctx, q); err != nil {
					return err
				}
			}
			return forgetConnection(ctx, tx, "second")
		},
		messages: "c", refused: fault.NotFound,
	},
}

// Another node deletes what a webhook comes in by in the moment in which it is
// committed: either the webhook was first, and its messages are as if it had come
// long before, or it finds nothing left. Nothing is half there.
func TestDeletingWhatAWebhookComesInBy(t *testing.T) {
	for _, c := range deletions {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				r, rule := toSecond(t, s)
				during(t, s, func(ctx context.Context, tx *db.Tx) error {
					r.Match(s.Rules())
					r.Encoded = [][]byte{[]byte(`{}`)}
					return s.writeReceipts(ctx, tx, []*notify.Receipt{r})
				}, func() error { return c.delete(t, s, rule) })
				if n := count(t, s, `SELECT count(*) FROM notify_events`); n != 1 {
					t.Errorf("committed first, the webhook is %d times in the log", n)
				}
				if got := states(t, s, []int64{r.Deliveries[0].ID}); got != c.messages {
					t.Errorf("committed first, its message is %q, want %q", got, c.messages)
				}
				addUp(t, s, counters)
			})
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				r, _ := toSecond(t, s)
				during(t, s, func(ctx context.Context, tx *db.Tx) error { return c.begin(ctx, s, tx) }, func() error {
					if err := s.Accept(t.Context(), r); fault.CodeOf(err) != c.refused {
						t.Errorf("committed last, it is answered with %v, want %q", err, c.refused)
					}
					return nil
				})
				if n := count(t, s, `SELECT count(*) FROM notify_events`); n != c.logged {
					t.Errorf("committed last, the webhook is %d times in the log, want %d", n, c.logged)
				}
				if n := count(t, s, `SELECT count(*) FROM notify_deliveries`); n != 0 {
					t.Errorf("committed last, it has %d messages", n)
				}
				addUp(t, s, counters)
			})
		})
	}
}

// toSecond is a webhook of another connection, by a hook of its own, which the rule
// takes.
func toSecond(t *testing.T, s *Store) (r *notify.Receipt, rule int64) {
	t.Helper()
	if _, _, err := s.CreateConnection(t.Context(), ada, notify.Connection{Name: "second", Kind: "bitbucket-dc", BaseURL: "https://code.example.com"}, nil); err != nil {
		t.Fatal(err)
	}
	h, err := s.CreateHook(t.Context(), ada, notify.Hook{Connection: "second", Name: "canoe", Scope: notify.Scope{ProjectKey: "ATL"}})
	if err != nil {
		t.Fatal(err)
	}
	of := someRule("one")
	of.Connection = "second"
	e := *pushedTo("ATL", "canoe", "main", "ada")
	e.Connection = "second"
	r = cameBy(h, webhook("w1", e))
	r.Connection = "second"
	return r, save(t, s, of, flowURL("a")).ID
}
