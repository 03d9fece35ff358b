package store_test

import (
	"context"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Who administers one of a message's rules sees it and its channel; to act
// takes all of them.
func TestWhoMaySeeAndActOnDeliveries(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		global, repository := store.SomeRule("global"), store.SomeRule("repository")
		repository.ProjectKey, repository.RepositoryKey = "ATL", "canoe"
		shared := store.Save(t, s, global, store.FlowURL("shared"))
		store.Save(t, s, repository, store.FlowURL("shared"))
		own := repository
		own.Name = "own"
		store.Save(t, s, own, store.FlowURL("own"))
		store.Accept(t, s, store.Webhook("w1", *store.PushedTo("ATL", "canoe", "main", "ada")))
		store.Accept(t, s, store.Webhook("w2", *store.PushedTo("ATL", "kayak", "main", "ada"))) // for the global rule alone
		deliveries, channels := &admin.Deliveries{Store: s}, &admin.Channels{Store: s, Clock: time.Now}

		all := store.As(t, identity.Grant{Permission: identity.Admin})
		of := store.As(t, identity.Grant{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}})
		stranger := store.As(t)
		for who, c := range map[string]struct {
			ctx                     context.Context
			seen, channels, actedOn int
		}{
			"ADMIN":             {all, 3, 2, 3},
			"of the repository": {of, 2, 2, 1},
			"stranger":          {stranger, 0, 0, 0},
		} {
			list, err := deliveries.List(c.ctx, notify.DeliveryFilter{Limit: 10})
			if err != nil || len(list) != c.seen {
				t.Errorf("%s sees %d deliveries, want %d: %v", who, len(list), c.seen, err)
			}
			found, err := channels.List(c.ctx, notify.ChannelPage{Limit: 10})
			if err != nil || len(found) != c.channels {
				t.Errorf("%s sees %d channels, want %d: %v", who, len(found), c.channels, err)
			}
			acted := 0
			for _, d := range store.Waiting(t, s) {
				switch err := deliveries.TryNow(c.ctx, d.ID); {
				case err == nil:
					acted++
				case !fault.Is(err, fault.Forbidden):
					t.Errorf("%s is refused with %v", who, err)
				}
			}
			if acted != c.actedOn {
				t.Errorf("%s may act on %d deliveries, want %d", who, acted, c.actedOn)
			}
		}
		if _, err := channels.Retry(of, shared.Channel.Fingerprint, notify.RetryNone); !fault.Is(err, fault.Forbidden) {
			t.Errorf("the repository's administrator drops messages of the global rule: %v", err)
		}
		if _, err := channels.Retry(all, shared.Channel.Fingerprint, "some"); !fault.Is(err, fault.Invalid) {
			t.Errorf("which=some: %v", err)
		}
		if _, err := channels.Save(all, shared.Channel.Fingerprint, named("Releases"), nil); err != nil {
			t.Error(err)
		}
		if c, err := channels.Get(of, shared.Channel.Fingerprint); err != nil || c.Name() != "Releases" || len(c.Rules) != 2 {
			t.Errorf("renamed: %+v, %v", c, err)
		}
		if n, err := deliveries.DoAll(of, admin.Cancellation, notify.DeliveryFilter{}); n.Done != 1 || err != nil {
			t.Errorf("the repository's administrator cancels %d, %v", n.Done, err)
		}
		if done, err := deliveries.DoAll(of, admin.Redelivery, notify.DeliveryFilter{State: notify.Cancelled}); done.Done != 1 || err != nil {
			t.Errorf("and redelivers %+v, %v", done, err)
		}
	})
}

func named(name string) notify.ChannelEdit { return notify.ChannelEdit{Name: &name} }
