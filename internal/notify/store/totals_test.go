package store_test

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Totals are what the lists have on all pages, to a limit, for whoever asks; where they
// are not known, nothing is said.
func TestTotalsAreThoseOfTheLists(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for i := range 6 {
			r := store.SomeRule(fmt.Sprint("rule ", i))
			if i > 0 {
				r.ProjectKey = "ATL"
			}
			if i > 3 {
				r.RepositoryKey = "canoe"
			}
			store.Save(t, s, r, store.FlowURL(fmt.Sprint(i)))
		}
		store.AcceptMany(t, s, 4)
		err := s.DB().Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE notify_deliveries SET state = 'failed', finished_at = $1 WHERE id % 3 = 0`, db.Micros(tx.Now()))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		deliveries, events, rules, channels := admin.Deliveries{Store: s}, admin.Events{Store: s}, admin.Rules{Store: s}, admin.Channels{Store: s}
		const some = 1000
		for _, user := range []string{"admin", "project", "repo"} {
			who, err := identitytest.Everybody().Basic(t.Context(), user, "", "")
			if err != nil {
				t.Fatal(err)
			}
			ctx := identity.With(t.Context(), who)
			same := func(what string, listed int, err error, n int, known bool, wrong error) {
				t.Helper()
				if err != nil || wrong != nil || !known || n != listed {
					t.Errorf("%s, %s: %d of %d, known %t, %v %v", user, what, n, listed, known, err, wrong)
				}
			}
			for name, f := range map[string]notify.DeliveryFilter{
				"all": {}, "failed": {State: notify.Failed}, "waiting": {State: notify.Waiting}, "a rule": {RuleID: 2}, "a channel": {ChannelID: 3},
				"of a rule, failed": {RuleID: 2, State: notify.Failed}, "delivered": {State: notify.Delivered}, "since": {Since: time.Now().Add(-time.Hour)}, "later": {Since: time.Now().Add(time.Hour)},
				"of a project": {Project: "atl"}, "of another": {Project: "ATL", Repository: "kayak"},
				"of a repository, failed": {Project: "ATL", Repository: "Canoe", State: notify.Failed},
				"of a repository, a rule": {Project: "ATL", Repository: "canoe", RuleID: 2},
			} {
				n, known, wrong := deliveries.Total(ctx, f, some)
				f.Limit = some
				list, err := deliveries.List(ctx, f)
				same("deliveries, "+name, len(list), err, n, known, wrong)
			}
			for name, f := range map[string]notify.EventFilter{
				"all": {}, "taken": {Fate: notify.EventTaken}, "silent": {Fate: notify.EventSilent},
				"a type": {Types: notify.NewTypeSet(notify.BranchUpdated)}, "another type": {Types: notify.NewTypeSet(notify.PullRequestMerged)},
				"a project": {Connection: "dc", Project: "atl", Repository: "canoe"}, "since": {Since: time.Now().Add(-time.Hour)},
			} {
				n, known, wrong := events.Total(ctx, f, some)
				f.Limit = some
				list, err := events.List(ctx, f)
				same("events, "+name, len(list.Events), err, n, known, wrong)
				if !known {
					t.Errorf("%s: the total of events is not known", user)
				}
			}
			for name, p := range map[string]notify.RulePage{"all": {}, "found": {Search: "rule 4"}, "of a level": {Level: notify.ProjectLevel}, "of the cloud": {Edition: notify.Cloud}} {
				n, known, wrong := rules.Total(ctx, p, some)
				p.Limit = some
				list, err := rules.Page(ctx, p)
				same("rules, "+name, len(list), err, n, known, wrong)
			}
			n, known, wrong := channels.Total(ctx, some)
			list, err := channels.List(ctx, notify.ChannelPage{Limit: some})
			same("channels", len(list), err, n, known, wrong)
			if n, known, err := rules.Total(ctx, notify.RulePage{}, 1); n != 1 || !known || err != nil {
				t.Errorf("%s: %d rules, counted to 1, %v", user, n, err)
			}
		}
	})
}

// A filter without an index is not counted in a table that is too large to look through.
func TestTotalsOfLargeTables(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		store.Save(t, s, store.SomeRule("one"), store.FlowURL("a"))
		store.Accept(t, s, store.Webhook("first", *store.PushedTo("ATL", "canoe", "main", "ada")))
		err := s.DB().Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO notify_events (id, connection, hook, event_key, received_at, outcome, reason, project_key, repository_key, generation, rules, delivery, needed)
				SELECT e.id + n.n, connection, hook, event_key, received_at, 'silent', '', 'PAC', 'canoe', 1, 0, 0, 0 FROM notify_events e,
				(WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20050) SELECT n FROM numbers) n`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		who, err := identitytest.Everybody().Basic(t.Context(), "admin", "", "")
		if err != nil {
			t.Fatal(err)
		}
		events := admin.Events{Store: s}
		ask := func(f notify.EventFilter) string {
			n, known, err := events.Total(identity.With(t.Context(), who), f, 10_000)
			if err != nil {
				t.Error(err)
			}
			return fmt.Sprint(n, known)
		}
		for want, f := range map[string]notify.EventFilter{"10000 true": {}, "0 false": {Connection: "dc", Project: "ATL"}, "0 true": {Fate: notify.EventNotUnderstood}} {
			if got := ask(f); got != want {
				t.Errorf("%+v: %s, want %s", f, got, want)
			}
		}
	})
}
