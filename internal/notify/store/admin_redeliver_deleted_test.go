package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// Ten messages of rules that were deleted are redelivered to their channel itself
// where something else uses it, by whoever administers all of that, and one by one as
// well as all. What waits so is cancelled when nothing uses the channel any more.
func TestWhatDeletedRulesSentGoesToTheChannelItself(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		counters := prometheus.NewRegistry()
		s.Measure(counters)
		as := func(name string) context.Context {
			who, err := identitytest.Everybody().Basic(t.Context(), name, "x", "")
			if err != nil {
				t.Fatal(err)
			}
			return identity.With(t.Context(), who)
		}
		ofRepository := func(name, url string) notify.RuleInfo {
			r := store.SomeRule(name)
			r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
			return store.Save(t, s, r, store.FlowURL(url))
		}
		all := &admin.Deliveries{Store: s}
		gone, too, kept := ofRepository("gone", "a"), ofRepository("gone too", "a"), ofRepository("kept", "b")
		ids := store.AcceptMany(t, s, 10)
		store.CancelAll(t, s)
		for _, rule := range []notify.RuleInfo{gone, too} {
			if err := s.DeleteRule(t.Context(), store.Ada, rule.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		ofDeleted := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { c, _ := store.Place(t, s, id); return c != gone.ChannelID })
		if len(ofDeleted) != 10 {
			t.Fatalf("%d messages on the channel of the deleted rules", len(ofDeleted))
		}
		// Nothing uses the channel, and so nobody knows its URL.
		err := all.Redeliver(as("admin"), ofDeleted[0])
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "deleted") {
			t.Errorf("to a channel that nothing uses: %v", err)
		}
		if _, _, err := all.Get(as("repo"), ofDeleted[0]); !fault.Is(err, fault.Forbidden) {
			t.Errorf("who administers nothing of the channel sees it: %v", err)
		}
		user := ofRepository("another", "a")
		global := store.Save(t, s, store.SomeRule("everybody's"), store.FlowURL("a"))
		if err := all.Redeliver(as("repo"), ofDeleted[0]); !fault.Is(err, fault.Forbidden) {
			t.Errorf("who administers not all rules of the channel: %v", err)
		}
		if err := s.DeleteRule(t.Context(), store.Ada, global.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := all.Redeliver(as("repo"), ofDeleted[3]); err != nil {
			t.Errorf("who administers the channel: %v", err)
		}
		cancelled := notify.DeliveryFilter{State: notify.Cancelled}
		asked, at, err := all.Would(as("admin"), admin.Redelivery, cancelled)
		if want := (notify.Affected{Done: 19, ToChannel: 9}); err != nil || asked != want {
			t.Errorf("of all: %+v, want %+v, %v", asked, want, err)
		}
		cancelled.AsOf, cancelled.Count = at, asked.Done
		if done, err := all.DoAll(as("admin"), admin.Redelivery, cancelled); err != nil || done != asked {
			t.Errorf("redelivered %+v, %v", done, err)
		}
		now, err := s.Rule(t.Context(), user.ID)
		if err != nil || now.ChannelID != gone.ChannelID {
			t.Fatal(err)
		}
		list, err := s.NextDeliveries(t.Context(), now.ChannelID, 100)
		if err != nil || fmt.Sprint(store.IdsOf(list)) != fmt.Sprint(ofDeleted) {
			t.Errorf("in the queue %v, want %v, %v", store.IdsOf(list), ofDeleted, err)
		}
		for _, d := range list {
			if !d.ToChannel || !s.Rules().Enabled(d) || !s.Rules().On(d) {
				t.Errorf("delivery %d would not be sent: %+v", d.ID, d)
			}
		}
		store.AddUp(t, s, counters)
		// Some are delivered; the others wait until the channel has no URL any more.
		send := store.Sender(t, s)
		if sent := send(kept); len(sent) != 10 {
			t.Errorf("of the rule that is there: %v", sent)
		}
		if err := s.DeleteRule(t.Context(), store.Ada, user.ID, 0); err != nil {
			t.Fatal(err)
		}
		if got := store.States(t, s, ofDeleted); got != strings.Repeat("c", 10) {
			t.Errorf("on a channel that nothing uses: %s", got)
		}
		store.AddUp(t, s, counters)
	})
}
