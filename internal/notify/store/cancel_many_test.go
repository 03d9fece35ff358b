package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Cancelling all that a filter finds asks with the number; what comes after the question,
// and what was sent since, is left alone, and what the caller may only see is counted.
func TestCancellingManyIsHeldToItsQuestion(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		all := &admin.Deliveries{Store: s}
		for i := range 2 {
			r := store.SomeRule(fmt.Sprint("rule ", i))
			r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
			store.Save(t, s, r, store.FlowURL(fmt.Sprint(i)))
		}
		store.Save(t, s, store.SomeRule("global"), store.FlowURL("1"))
		store.AcceptMany(t, s, 10)
		waiting := notify.DeliveryFilter{State: notify.Waiting}

		asked, _, err := all.Would(signedIn(t, "repo"), admin.Cancellation, waiting)
		if want := (notify.Affected{Done: 10, Forbidden: 10}); err != nil || asked != want {
			t.Errorf("of the repository: %+v, want %+v, %v", asked, want, err)
		}
		asked, at, err := all.Would(signedIn(t, "admin"), admin.Cancellation, waiting)
		if err != nil || asked.Done != 20 || len(store.Waiting(t, s)) != 20 {
			t.Fatalf("of all: %+v, %v, %d wait", asked, err, len(store.Waiting(t, s)))
		}
		store.Accept(t, s, store.Webhook("later", *store.PushedTo("ATL", "canoe", "main", "ada")))
		if err := write(s, `UPDATE notify_deliveries SET state = 'delivered', finished_at = 1
			WHERE id = (SELECT min(id) FROM notify_deliveries WHERE rules NOT LIKE '%,%')`); err != nil {
			t.Fatal(err)
		}
		answer := waiting
		answer.AsOf, answer.Count = at, 18
		n, err := all.DoAll(signedIn(t, "admin"), admin.Cancellation, answer)
		if !fault.Is(err, fault.Conflict) || n.Done != 0 || len(store.Waiting(t, s)) != 21 {
			t.Errorf("more than was asked about: %+v, %v, %d wait", n, err, len(store.Waiting(t, s)))
		}
		answer.Count = asked.Done
		for name, want := range map[string]notify.Affected{"nobody": {}, "repo": {Done: 9, Forbidden: 10}} {
			if n, err := all.DoAll(signedIn(t, name), admin.Cancellation, answer); err != nil || n != want {
				t.Errorf("%s: %+v, want %+v, %v", name, n, want, err)
			}
		}
		if n, err := all.DoAll(signedIn(t, "admin"), admin.Cancellation, answer); err != nil || n.Done != 10 || len(store.Waiting(t, s)) != 2 {
			t.Errorf("cancelled %+v, %v, %d wait, want the 2 that came later", n, err, len(store.Waiting(t, s)))
		}
		// One that was put back since the question is not what it was about.
		if _, err := all.DoAll(signedIn(t, "admin"), admin.Redelivery, notify.DeliveryFilter{State: notify.Cancelled}); err != nil {
			t.Fatal(err)
		}
		if n, err := all.DoAll(signedIn(t, "admin"), admin.Cancellation, answer); err != nil || n.Done != 0 || len(store.Waiting(t, s)) != 21 {
			t.Errorf("%+v of what was put back are cancelled, %v", n, err)
		}
		if n := store.Count(t, s, `SELECT count(*) FROM audit_entries WHERE action = 'cancel'`); n != 2 {
			t.Errorf("%d entries in the audit trail, want one for each who cancelled", n)
		}
		for _, state := range []notify.DeliveryState{notify.Failed, notify.Cancelled, notify.Delivered} {
			if _, err := all.DoAll(signedIn(t, "admin"), admin.Cancellation, notify.DeliveryFilter{State: state}); !fault.Is(err, fault.Invalid) {
				t.Errorf("state %q: %v", state, err)
			}
		}
	})
}

// However many newer deliveries others have, what the caller administers, or what is of a
// repository, is found; no more than MaxAtOnce are taken, and it is said that there are more.
func TestActingOnManyFindsItsOwnAmongOthers(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		all := &admin.Deliveries{Store: s}
		for _, key := range []string{"canoe", "kayak"} {
			r := store.SomeRule(key)
			r.ProjectKey, r.RepositoryKey = "ATL", key
			store.Save(t, s, r, store.FlowURL(key))
			store.Accept(t, s, store.Webhook(key, *store.PushedTo("ATL", key, "main", "ada")))
		}
		// The newest is of another repository, and so are its copies.
		const others = admin.MaxAtOnce + 600
		copied := []string{"event_id", "channel_id", "format", "rule_id", "rules", "state", "reason", "note", "attempts", "errors_5xx",
			"created_at", "queued_at", "due_at", "beside", "batch", "held_until", "finished_at", "took", "status", "answer"}
		columns := strings.Join(copied, ", ")
		if err := write(s, fmt.Sprintf(`INSERT INTO notify_deliveries (id, %[1]s)
			WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < %[2]d)
			SELECT last.id + n, %[1]s FROM x, (SELECT * FROM notify_deliveries ORDER BY id DESC LIMIT 1) last`, columns, others)); err != nil {
			t.Fatal(err)
		}
		waiting := notify.DeliveryFilter{State: notify.Waiting}
		for name, want := range map[string]notify.Affected{"repo": {Done: 1}, "admin": {Done: admin.MaxAtOnce, More: true}} {
			if n, _, err := all.Would(signedIn(t, name), admin.Cancellation, waiting); err != nil || n != want {
				t.Errorf("%s: %+v, want %+v, %v", name, n, want, err)
			}
		}
		for name, f := range map[string]notify.DeliveryFilter{"repo": {Limit: 50}, "admin": {Limit: 50, Project: "atl", Repository: "canoe"}} {
			list, err := all.List(signedIn(t, name), f)
			if err != nil || len(list) != 1 || list[0].Event.Repository.Key != "canoe" {
				t.Errorf("%s: %d are listed, %v", name, len(list), err)
			}
		}
	})
}

func signedIn(t *testing.T, name string) context.Context {
	t.Helper()
	who, err := identitytest.Everybody().Basic(t.Context(), name, "x", "")
	if err != nil {
		t.Fatal(err)
	}
	return identity.With(t.Context(), who)
}

func write(s *store.Store, query string) error {
	return s.DB().Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(context.Background(), query)
		return err
	})
}
