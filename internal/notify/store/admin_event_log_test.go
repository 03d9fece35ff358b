package store_test

import (
	"fmt"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// A filter that few events pass must not have one reading look through all of
// them: it goes on where the last one stopped.
func TestAReadingOfTheLogIsBounded(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		store.FillLog(t, s)
		far := store.MaxEventsRead + 50
		store.Damage(t, s, fmt.Sprintf(`UPDATE notify_events SET id = id + %d WHERE event_key = 'foreign'`, far))
		page, err := s.ListEvents(t.Context(), notify.EventFilter{Project: "ATL", Limit: 10})
		if err != nil || len(page.Events) != 0 || page.Next == 0 {
			t.Fatalf("first reading: %d events, next %d, %v", len(page.Events), page.Next, err)
		}
		log := admin.Events{Store: s}
		found, err := log.List(store.AsAdmin(t), notify.EventFilter{Project: "ATL", Limit: 10})
		if err != nil || len(found.Events) != 2 || found.Next != 0 {
			t.Errorf("the page: %d events, next %d, %v", len(found.Events), found.Next, err)
		}
	})
}
