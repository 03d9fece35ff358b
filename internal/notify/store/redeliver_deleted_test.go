package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
)

// Ten messages of rules that were deleted are redelivered to their channel itself
// where something else uses it, by whoever administers all of that, and one by one as
// well as all. What waits so is cancelled when nothing uses the channel any more.
func TestWhatDeletedRulesSentGoesToTheChannelItself(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
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
			r := someRule(name)
			r.ProjectKey, r.RepositoryKey = "ATL", "canoe"
			return save(t, s, r, flowURL(url))
		}
		all := &notify.Deliveries{Store: s}
		gone, too, kept := ofRepository("gone", "a"), ofRepository("gone too", "a"), ofRepository("kept", "b")
		ids := acceptMany(t, s, 10)
		cancelAll(t, s)
		for _, rule := range []notify.RuleInfo{gone, too} {
			if err := s.DeleteRule(t.Context(), ada, rule.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		ofDeleted := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { c, _ := place(t, s, id); return c != gone.ChannelID })
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
		global := save(t, s, someRule("everybody's"), flowURL("a"))
		if err := all.Redeliver(as("repo"), ofDeleted[0]); !fault.Is(err, fault.Forbidden) {
			t.Errorf("who administers not all rules of the channel: %v", err)
		}
		if err := s.DeleteRule(t.Context(), ada, global.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := all.Redeliver(as("repo"), ofDeleted[3]); err != nil {
			t.Errorf("who administers the channel: %v", err)
		}
		cancelled := notify.DeliveryFilter{State: notify.Cancelled}
		asked, at, err := all.WouldRedeliver(as("admin"), cancelled)
		if want := (notify.Redelivered{Queued: 19, ToChannel: 9}); err != nil || asked != want {
			t.Errorf("of all: %+v, want %+v, %v", asked, want, err)
		}
		cancelled.AsOf, cancelled.Count = at, asked.Queued
		if done, err := all.RedeliverAll(as("admin"), cancelled); err != nil || done != asked {
			t.Errorf("redelivered %+v, %v", done, err)
		}
		now, err := s.Rule(t.Context(), user.ID)
		if err != nil || now.ChannelID != gone.ChannelID {
			t.Fatal(err)
		}
		list, err := s.NextDeliveries(t.Context(), now.ChannelID, 100)
		if err != nil || fmt.Sprint(idsOf(list)) != fmt.Sprint(ofDeleted) {
			t.Errorf("in the queue %v, want %v, %v", idsOf(list), ofDeleted, err)
		}
		for _, d := range list {
			if !d.ToChannel || !s.Rules().Enabled(d) || !s.Rules().On(d) {
				t.Errorf("delivery %d would not be sent: %+v", d.ID, d)
			}
		}
		addUp(t, s, counters)
		// Some are delivered; the others wait until the channel has no URL any more.
		send := sender(t, s)
		if sent := send(kept); len(sent) != 10 {
			t.Errorf("of the rule that is there: %v", sent)
		}
		if err := s.DeleteRule(t.Context(), ada, user.ID, 0); err != nil {
			t.Fatal(err)
		}
		if got := states(t, s, ofDeleted); got != strings.Repeat("c", 10) {
			t.Errorf("on a channel that nothing uses: %s", got)
		}
		addUp(t, s, counters)
	})
}

// A message of a rule that is only off is not the channel's, also where another rule of
// it is deleted; a report's is like a rule's.
func TestOnlyWhatHasNoRuleIsTheChannels(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		off, gone := save(t, s, someRule("off"), flowURL("a")), save(t, s, someRule("gone"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		report := saveReport(t, s, someReport("report"), flowURL("a"))
		keeper(t, s)(runAt(t, s, report.ID, reportDay.Add(9*time.Hour), 1))
		cancelAll(t, s)
		off.Enabled, off.Version = false, 0
		save(t, s, off.Rule, "")
		if err := s.DeleteRule(t.Context(), ada, gone.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteReport(t.Context(), ada, report.ID, 0); err != nil {
			t.Fatal(err)
		}
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Redelivered{Skipped: 3}) {
			t.Errorf("of a rule that is off: %+v, %v", done, err)
		}
		all, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{ReportID: report.ID, Limit: 10})
		if err != nil || len(all) != 1 {
			t.Fatalf("%d deliveries of the report, %v", len(all), err)
		}
		if done, err := s.Redeliver(t.Context(), ada, idsOf(all)); err != nil || done != (notify.Redelivered{Queued: 1, ToChannel: 1}) {
			t.Errorf("of a report that was deleted: %+v, %v", done, err)
		}
	})
}

func cancelAll(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Cancel(t.Context(), ada, idsOf(waiting(t, s))); err != nil {
		t.Fatal(err)
	}
}
