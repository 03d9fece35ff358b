package store

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

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
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Skipped: 3}) {
			t.Errorf("of a rule that is off: %+v, %v", done, err)
		}
		all, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{ReportID: report.ID, Limit: 10})
		if err != nil || len(all) != 1 {
			t.Fatalf("%d deliveries of the report, %v", len(all), err)
		}
		if done, err := s.Redeliver(t.Context(), ada, idsOf(all)); err != nil || done != (notify.Affected{Done: 1, ToChannel: 1}) {
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
