package store

import (
	"bytes"
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// commitWebhook is the transaction of a webhook that was matched before.
func (s *Store) commitWebhook(t *testing.T, r *notify.Receipt) func(ctx context.Context, tx *db.Tx) error {
	t.Helper()
	r.Match(s.Rules())
	if err := encode(r, new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, tx *db.Tx) error { return s.writeReceipts(ctx, tx, []*notify.Receipt{r}) }
}

// A rule is deleted on another node while a webhook for it is being committed:
// its message is cancelled, and the event stays.
func TestARuleIsDeletedWhileItsWebhookIsCommitted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, other := save(t, s, someRule("one"), flowURL("a")), newStore(t, s.db)
		here, there := prometheus.NewRegistry(), prometheus.NewRegistry()
		s.Measure(here)
		other.Measure(there)
		during(t, s, s.commitWebhook(t, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada"))), func() error {
			return other.DeleteRule(t.Context(), ada, one.ID, 0)
		})
		expectDeliveries(t, s, "main cancelled [1]")
		if n := count(t, s, `SELECT count(*) FROM notify_events WHERE rules = 1`); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
		if matched, cancelled := counted(t, here)["matched"], counted(t, there)["cancelled"]; matched != 1 || cancelled != 1 {
			t.Errorf("%d matched and %d cancelled, want 1 each", matched, cancelled)
		}
	})
}

// A webhook comes while another node deletes its rule, or its hook: it is judged
// by what is left.
func TestAWebhookComesWhileItsRuleOrHookIsDeleted(t *testing.T) {
	for _, c := range []struct {
		name   string
		query  string
		events int
		want   fault.Code
	}{
		{"rule", `DELETE FROM notify_rules`, 1, ""},
		{"hook", `DELETE FROM notify_hooks`, 0, fault.NotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				save(t, s, someRule("one"), flowURL("a"))
				h, other := hookOf(t, s, "atl", "ATL", ""), newStore(t, s.db)
				var answer error
				during(t, s, func(ctx context.Context, tx *db.Tx) error {
					if err := other.beginPlatformsChange(ctx, tx); err != nil {
						return err
					}
					_, err := tx.Exec(ctx, c.query)
					return err
				}, func() error {
					answer = s.Accept(t.Context(), cameBy(h, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada"))))
					return nil
				})
				if (answer != nil) != (c.want != "") || answer != nil && !fault.Is(answer, c.want) {
					t.Errorf("it is answered %v, want %q", answer, c.want)
				}
				if n := count(t, s, `SELECT count(*) FROM notify_events`); n != c.events {
					t.Errorf("%d events, want %d", n, c.events)
				}
				expectDeliveries(t, s)
				if got := counted(t, counters); got["matched"] != 0 {
					t.Errorf("counted %v", got)
				}
			})
		})
	}
}
