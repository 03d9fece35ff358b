package store_test

import (
	"fmt"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Redelivering many asks with the number and says what is skipped and why; what ends
// after the question, or comes to be taken, is not redelivered by its answer; of two
// who answer the same question, one redelivers.
func TestRedeliveringManyIsHeldToItsQuestion(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		all := &admin.Deliveries{Store: s}
		// Three rules of a repository with ten messages each: one rule is off, and
		// the messages of another are those of a global rule too.
		var rules []notify.RuleInfo
		for i := range 3 {
			r := store.SomeRule(fmt.Sprint("rule ", i))
			r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
			rules = append(rules, store.Save(t, s, r, store.FlowURL(fmt.Sprint(i))))
		}
		store.Save(t, s, store.SomeRule("global"), store.FlowURL("2"))
		store.AcceptMany(t, s, 10)
		failed := notify.DeliveryFilter{State: notify.Failed}
		fail := func() {
			t.Helper()
			err := s.DB().Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE notify_deliveries SET state = 'failed', finished_at = $1 WHERE finished_at = 0`, db.Micros(tx.Now()))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		fail()
		off := rules[1].Rule
		off.Enabled, off.Version = false, 0
		store.Save(t, s, off, "")

		asked, _, err := all.Would(signedIn(t, "repo"), admin.Redelivery, failed)
		if want := (notify.Affected{Done: 10, Skipped: 10, Forbidden: 10}); err != nil || asked != want {
			t.Errorf("of the repository: %+v, want %+v, %v", asked, want, err)
		}
		asked, at, err := all.Would(signedIn(t, "admin"), admin.Redelivery, failed)
		if want := (notify.Affected{Done: 20, Skipped: 10}); err != nil || asked != want {
			t.Errorf("of all: %+v, want %+v, %v", asked, want, err)
		}
		if n := len(store.Waiting(t, s)); n != 0 {
			t.Fatalf("the question put %d back", n)
		}
		// What fails after the question is left alone.
		store.Accept(t, s, store.Webhook("later", *store.PushedTo("ATL", "canoe", "main", "ada")))
		fail()
		answer := failed
		answer.AsOf, answer.Count = at, asked.Done
		few := answer
		few.Count--
		if _, err := all.DoAll(signedIn(t, "admin"), admin.Redelivery, few); !fault.Is(err, fault.Conflict) || len(store.Waiting(t, s)) != 0 {
			t.Errorf("more than was asked about: %v, %d wait", err, len(store.Waiting(t, s)))
		}
		sum := 0
		results := make(chan notify.Affected, 2)
		for range cap(results) {
			go func() {
				n, err := all.DoAll(signedIn(t, "admin"), admin.Redelivery, answer)
				if err != nil {
					t.Error(err)
				}
				results <- n
			}()
		}
		for range cap(results) {
			n := <-results
			sum += n.Done
		}
		if n := len(store.Waiting(t, s)); sum != 20 || n != 20 {
			t.Errorf("%d redelivered, %d wait, want 20", sum, n)
		}
		// Those that are named, of which some wait already.
		list, err := all.List(signedIn(t, "admin"), notify.DeliveryFilter{Limit: 6})
		if err != nil {
			t.Fatal(err)
		}
		ticked := notify.DeliveryFilter{IDs: idsOfInfos(list)}
		if asked, _, err = all.Would(signedIn(t, "admin"), admin.Redelivery, ticked); err != nil || asked != (notify.Affected{Done: 2, Skipped: 2}) {
			t.Errorf("of those that are named: %+v, %v", asked, err)
		}
		const entries = `SELECT count(*) FROM audit_entries WHERE action = 'redeliver'`
		before := store.Count(t, s, entries)
		if done, err := all.DoAll(signedIn(t, "admin"), admin.Redelivery, ticked); err != nil || done != asked || store.Count(t, s, entries) != before+1 {
			t.Errorf("redelivered %+v, %v, %d entries in the audit trail", done, err, store.Count(t, s, entries)-before)
		}
		if n, _, err := all.Would(signedIn(t, "admin"), admin.Cancellation, ticked); n.Done != 4 || err != nil {
			t.Errorf("%d of six wait, %v", n.Done, err)
		}
		if n, err := all.DoAll(signedIn(t, "admin"), admin.Cancellation, ticked); n.Done != 4 || err != nil || len(store.Waiting(t, s)) != 18 {
			t.Errorf("%d cancelled, %d wait, %v", n.Done, len(store.Waiting(t, s)), err)
		}
		for _, state := range []notify.DeliveryState{"", notify.Waiting, notify.Deciding} {
			if _, _, err := all.Would(signedIn(t, "admin"), admin.Redelivery, notify.DeliveryFilter{State: state}); !fault.Is(err, fault.Invalid) {
				t.Errorf("state %q: %v", state, err)
			}
		}
	})
}

func idsOfInfos(list []notify.DeliveryInfo) (ids []int64) {
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}
