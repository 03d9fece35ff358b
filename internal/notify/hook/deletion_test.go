package hook

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// answered is a webhook and what it was answered.
type answered struct {
	id   string
	code int
	body string
}

// While a rule, a hook and then the connection are deleted, on another node where
// there can be one, every webhook is either taken, with its event kept and what it
// sends decided, or refused as one of no hook, and then nothing of it is kept.
func TestDeletingWhileWebhooksComeIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		here := serve(t, d, 0)
		there := here
		if d.Dialect() == db.Postgres {
			there = serve(t, d, 0)
		}
		for round := range 3 {
			for _, a := range here.deleteUnderLoad(there, round) {
				switch a.code {
				case 202:
					here.keeps(a.id, 1)
				case 404:
					here.keeps(a.id, 0)
					if !strings.Contains(a.body, "no webhook at") && !strings.Contains(a.body, "has no hook") {
						t.Errorf("404 says %s", a.body)
					}
				default:
					t.Errorf("%s: status %d, %s", a.id, a.code, a.body)
				}
			}
		}
		for what, q := range map[string]string{
			"deliveries without an event":       `SELECT count(*) FROM notify_deliveries WHERE event_id NOT IN (SELECT id FROM notify_events)`,
			"deliveries that wait without rule": `SELECT count(*) FROM notify_deliveries WHERE finished_at = 0`,
			"events with other deliveries":      `SELECT count(*) FROM notify_events e WHERE needed <> (SELECT count(*) FROM notify_deliveries d WHERE d.event_id = e.id)`,
			"events that rules took for no one": `SELECT count(*) FROM notify_events WHERE (rules > 0) <> (needed > 0)`,
		} {
			if n := here.count(q); n != 0 {
				t.Errorf("%d %s", n, what)
			}
		}
		if n := here.count(`SELECT count(*) FROM notify_deliveries WHERE state = 'cancelled'`); n == 0 {
			t.Error("no webhook came before the rule was deleted")
		}
	}, migrations...)
}

// deleteUnderLoad makes a connection with a hook and a rule, posts to both hooks
// from several senders, and meanwhile deletes them there.
func (s *server) deleteUnderLoad(there *server, round int) (all []answered) {
	s.t.Helper()
	ctx, who := s.t.Context(), notify.Actor{Name: "root"}
	_, own, err := there.store.CreateConnection(ctx, who, notify.Connection{Name: "second", Kind: "played", BaseURL: "https://code.example.com"}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	team, err := there.store.CreateHook(ctx, who, notify.Hook{Connection: "second", Name: "team", Scope: notify.Scope{ProjectKey: "ATL"}})
	if err != nil {
		s.t.Fatal(err)
	}
	rule, err := there.store.SaveRule(ctx, who, notify.Rule{
		Name: "all", Connection: "second", Format: notify.Auto, Enabled: true, Filter: notify.Filter{EventTypes: []notify.EventType{notify.BranchUpdated}},
	}, "https://chat.example.com/hook")
	if err != nil {
		s.t.Fatal(err)
	}
	// The connection is gone long before, however busy the machine is.
	until := time.Now().Add(time.Minute)
	var mu sync.Mutex
	var senders sync.WaitGroup
	some := make(chan struct{})
	for sender, to := range []struct {
		path string
		key  secret.Value
	}{{"second", own}, {"second/team", team.Secret}, {"second", own}, {"second/team", team.Secret}} {
		senders.Go(func() {
			for n, refused := 0, 0; refused < 2 && time.Now().Before(until); n++ {
				id := fmt.Sprintf("%d-%d-%d", round, sender, n)
				body := fmt.Appendf(nil, `{"eventKey":"push","id":%q}`, id)
				w := s.post(to.path, "push", Sign(body, to.key), id, body)
				if w.Code != 202 {
					refused++
				}
				mu.Lock()
				all = append(all, answered{id, w.Code, w.Body.String()})
				mu.Unlock()
				select {
				case some <- struct{}{}:
				default: // nothing waits for it
				}
			}
		})
	}
	for _, gone := range []func() error{
		func() error { return there.store.DeleteRule(ctx, who, rule.ID, 0) },
		func() error { return there.store.DeleteHook(ctx, who, "second", "team") },
		func() error { return there.store.DeleteConnection(ctx, who, "second", 0) },
	} {
		for range 6 {
			<-some
		}
		if err := gone(); err != nil {
			s.t.Error(err)
		}
	}
	senders.Wait()
	if !slices.ContainsFunc(all, func(a answered) bool { return a.code == 202 }) || all[len(all)-1].code == 202 {
		s.t.Errorf("%d webhooks came too early or too late", len(all))
	}
	return all
}

// keeps holds how many events are kept of a webhook, all of them understood and
// whole.
func (s *server) keeps(id string, want int) {
	s.t.Helper()
	if n := s.count(`SELECT count(*) FROM notify_events WHERE request_id = $1`, id); n != want {
		s.t.Errorf("%s: %d events are kept, want %d", id, n, want)
	}
	if n := s.count(`SELECT count(*) FROM notify_events WHERE request_id = $1 AND outcome = 'understood' AND event IS NOT NULL AND generation > 0`, id); n != want {
		s.t.Errorf("%s: %d of them are whole, want %d", id, n, want)
	}
}

func (s *server) count(q string, args ...any) (n int) {
	s.t.Helper()
	if err := s.db.Read(s.t.Context(), func(tx *db.Tx) error { return tx.QueryRow(s.t.Context(), q, args...).Scan(&n) }); err != nil {
		s.t.Fatal(err)
	}
	return n
}
