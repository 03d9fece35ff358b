package store_test

import (
	"context"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// The version of a list is another one after everything that the list shows
// changed, and the same otherwise: live lists read nothing more until then.
func TestVersionsOfLists(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		deliveries, events := &admin.Deliveries{Store: s}, &admin.Events{Store: s}
		readers := map[string]context.Context{
			"ADMIN":         store.As(t, identity.Grant{Permission: identity.Admin}),
			"PROJECT_ADMIN": store.As(t, identity.Grant{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL"}}),
		}
		rule := store.SomeRule("of the project")
		rule.ProjectKey = "ATL"
		saved := store.Save(t, s, rule, store.FlowURL("a"))
		store.Accept(t, s, store.Webhook("first", *store.PushedTo("ATL", "canoe", "main", "ada")))
		type lists struct{ all, waiting, ofRule, ofPlace, events, taken, ofType string }
		versions := func() map[string]lists {
			t.Helper()
			now := map[string]lists{}
			for name, ctx := range readers {
				delivery := func(f notify.DeliveryFilter) string {
					f.Limit = 10
					v, err := deliveries.Version(ctx, f)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				event := func(f notify.EventFilter) string {
					f.Limit = 10
					v, err := events.Version(ctx, f)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				now[name] = lists{
					delivery(notify.DeliveryFilter{}), delivery(notify.DeliveryFilter{State: notify.Waiting}),
					delivery(notify.DeliveryFilter{RuleID: saved.ID}), delivery(notify.DeliveryFilter{Project: "ATL"}),
					event(notify.EventFilter{}), event(notify.EventFilter{Fate: notify.EventTaken, Since: time.Now().Add(-time.Hour)}),
					event(notify.EventFilter{Types: notify.NewTypeSet(notify.BranchUpdated)}),
				}
			}
			return now
		}
		before := versions()
		if again := versions(); again["ADMIN"] != before["ADMIN"] || again["PROJECT_ADMIN"] != before["PROJECT_ADMIN"] {
			t.Errorf("nothing changed: %+v, then %+v", before, again)
		}
		store.Accept(t, s, store.Webhook("second", *store.PushedTo("ATL", "canoe", "main", "ada")))
		after := versions()
		for name := range readers {
			was, is := before[name], after[name]
			if was.all == is.all || was.waiting == is.waiting || was.ofRule == is.ofRule || was.ofPlace == is.ofPlace ||
				was.events == is.events || was.taken == is.taken || was.ofType == is.ofType {
				t.Errorf("%s, after an event: %+v, then %+v", name, was, is)
			}
		}
		if n, err := s.Cancel(t.Context(), store.Ada, []int64{store.Waiting(t, s)[0].ID}); n.Done != 1 || err != nil {
			t.Fatal(n, err)
		}
		cancelled := versions()
		for name := range readers {
			was, is := after[name], cancelled[name]
			if was.all == is.all || was.waiting == is.waiting || was.ofRule == is.ofRule || was.ofPlace == is.ofPlace || was.taken != is.taken {
				t.Errorf("%s, after a delivery was cancelled: %+v, then %+v", name, was, is)
			}
		}
		store.Accept(t, s, store.Webhook("elsewhere", *store.PushedTo("PAC", "canoe", "main", "ada")))
		elsewhere := versions()
		if elsewhere["PROJECT_ADMIN"] != cancelled["PROJECT_ADMIN"] {
			t.Errorf("an event of another project tells a PROJECT_ADMIN something: %+v, then %+v", cancelled["PROJECT_ADMIN"], elsewhere["PROJECT_ADMIN"])
		}
		if was, is := cancelled["ADMIN"], elsewhere["ADMIN"]; was.events == is.events || was.all != is.all {
			t.Errorf("ADMIN, after an event that no rule took: %+v, then %+v", was, is)
		}
		if _, err := deliveries.Version(store.As(t), notify.DeliveryFilter{Limit: 10}); err != nil {
			t.Errorf("for a caller who sees nothing: %v", err)
		}
		if _, err := events.Version(t.Context(), notify.EventFilter{Limit: 10}); err == nil {
			t.Error("the version of the events was given without a sign-in")
		}
	})
}
