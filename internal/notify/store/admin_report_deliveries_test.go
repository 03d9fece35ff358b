package store_test

import (
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Only who administers the repository sees what its report sent.
func TestWhoSeesAReportsDelivery(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		info := store.SaveReport(t, s, store.SomeReport("stale"), store.FlowURL("a"))
		store.Keeper(t, s)(store.RunAt(t, s, info.ID, store.ReportDay.Add(9*time.Hour), 1))
		deliveries := &admin.Deliveries{Store: s}
		at := func(repository string) identity.Grant {
			return identity.Grant{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: repository}}
		}
		for repository, want := range map[string]int{"canoe": 1, "hull": 0} {
			ctx := store.As(t, at(repository))
			list, err := deliveries.List(ctx, notify.DeliveryFilter{Limit: 10})
			if err != nil || len(list) != want {
				t.Errorf("who administers %s sees %d, %v", repository, len(list), err)
			}
			if err := deliveries.Cancel(ctx, store.Waiting(t, s)[0].ID); (err == nil) != (want == 1) {
				t.Errorf("who administers %s cancels it: %v", repository, err)
			}
			if want == 1 {
				if err := deliveries.Redeliver(ctx, list[0].ID); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
