package store

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// runAt is a report's turn at a time, in which the platform answers that so many
// pull requests are open, or not at all for -1.
func runAt(t *testing.T, s *Store, id int64, at time.Time, open int) *notify.ReportRun {
	t.Helper()
	info := reportNow(t, s, id)
	run := info.BeginRun(at)
	switch {
	case run.Due.IsZero():
	case open < 0:
		run.Conclude(nil, fault.New(fault.Unavailable, "The platform is down for maintenance."))
	default:
		run.Conclude(&notify.Event{
			Key: notify.ReportKey, Connection: "dc", At: at, Project: notify.Project{Key: info.ProjectKey},
			Repository: notify.Repository{Key: info.RepositoryKey}, Report: &notify.Activity{Report: id, Name: info.Name, Open: open},
		}, nil)
	}
	return run
}

// keeper keeps runs under a lease of its own.
func keeper(t *testing.T, s *Store) func(run *notify.ReportRun) bool {
	name, fence := hold(t, s)
	return func(run *notify.ReportRun) bool {
		t.Helper()
		run.Lease, run.Fence = name, fence
		kept, err := s.KeepRun(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
}

func TestARunAndItsDelivery(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		var enqueued []*notify.Delivery
		s.OnChange(func(list []*notify.Delivery) { enqueued = append(enqueued, list...) }, func(int64) {})
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		nine := reportDay.Add(9 * time.Hour)
		run := runAt(t, s, info.ID, nine.Add(time.Second), 12)
		if !keep(run) {
			t.Fatal("the run was not kept")
		}
		for what, again := range map[string]*notify.ReportRun{"the same": run, "another node's": runAt(t, s, info.ID, nine.Add(2*time.Second), 13)} {
			if what == "another node's" {
				again.Report, again.Due = run.Report, run.Due
			}
			if keep(again) {
				t.Errorf("%s run was kept beside the first", what)
			}
		}
		list := waiting(t, s)
		if len(list) != 1 || len(enqueued) != 1 || enqueued[0].ID != list[0].ID || enqueued[0].EventID != list[0].EventID {
			t.Fatalf("%d wait, %d were announced", len(list), len(enqueued))
		}
		d := list[0]
		if d.Event == nil || d.Event.Report.Open != 12 || d.ChannelID != info.ChannelID || d.Format != notify.Teams || d.Rules[0] != notify.OfReport(info.ID) {
			t.Errorf("the delivery is %+v", d)
		}
		if !s.Rules().Enabled(d) || !s.Rules().On(d) {
			t.Error("the outbox would not send it")
		}
		now := reportNow(t, s, info.ID)
		if !now.LastRunAt.Equal(nine.Add(time.Second)) || !now.NextRunAt.Equal(nine.Add(24*time.Hour)) || now.LastError != "" || now.Version != 1 {
			t.Errorf("the report is %+v", now)
		}
	})
}

// What a report says is in no list of what came in, and is no rule's.
func TestAReportIsNoEventOfAWebhook(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		keeper(t, s)(runAt(t, s, info.ID, reportDay.Add(9*time.Hour), 1))
		d := waiting(t, s)[0]
		if got := logIDs(t, s, notify.EventFilter{Limit: 10}); got != "" {
			t.Errorf("the log has %s", got)
		}
		if _, err := s.LoggedEvent(t.Context(), d.EventID); !fault.Is(err, fault.NotFound) {
			t.Errorf("by its id: %v", err)
		}
		sum, err := s.Summary(t.Context(), reportDay)
		if err != nil || sum.AnyEvent || sum.AnyRule || sum.Waiting != 1 {
			t.Errorf("the summary is %+v, %v", sum, err)
		}
		for _, f := range []notify.DeliveryFilter{{RuleID: info.ID, Limit: 10}, {ReportID: info.ID + 1, Limit: 10}} {
			if list, err := s.ListDeliveries(t.Context(), f); err != nil || len(list) != 0 {
				t.Errorf("%+v gives %d deliveries, %v", f, len(list), err)
			}
		}
		if list, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{ReportID: info.ID, Limit: 10}); err != nil || len(list) != 1 {
			t.Errorf("%d deliveries of the report, %v", len(list), err)
		}
	})
}

// What waits for a report ends with it, as it does for a rule, and what it ended
// in adds up.
func TestWhatWaitsForAReport(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, s *Store, r notify.ReportInfo) error
		want   notify.DeliveryState
		reason string
		moves  bool
	}{
		"disabled": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			_, err := s.EnableReport(t.Context(), ada, r.ID, 0, false, reportDay)
			return err
		}, notify.Cancelled, "The report was disabled or deleted.", false},
		"deleted": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			return s.DeleteReport(t.Context(), ada, r.ID, 0)
		}, notify.Cancelled, "The report was disabled or deleted.", false},
		"another URL": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			saveReport(t, s, r.Report, flowURL("b"))
			return nil
		}, notify.Waiting, "", true},
		"renamed": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			r.Name = "other"
			saveReport(t, s, r.Report, "")
			return nil
		}, notify.Waiting, "", false},
		"a newer one": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			keeper(t, s)(runAt(t, s, r.ID, reportDay.Add(33*time.Hour), 2))
			return nil
		}, notify.Cancelled, notify.ReplacedReason, false},
		"the platform is away": {func(t *testing.T, s *Store, r notify.ReportInfo) error {
			keeper(t, s)(runAt(t, s, r.ID, reportDay.Add(33*time.Hour), -1))
			return nil
		}, notify.Waiting, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				registry := prometheus.NewRegistry()
				s.Measure(registry)
				info := saveReport(t, s, someReport("stale"), flowURL("a"))
				keeper(t, s)(runAt(t, s, info.ID, reportDay.Add(9*time.Hour), 1))
				id := waiting(t, s)[0].ID
				if err := c.change(t, s, info); err != nil {
					t.Fatal(err)
				}
				d, _, err := s.Delivery(t.Context(), id)
				if err != nil || d.State != c.want || d.Reason != c.reason || (d.ChannelID != info.ChannelID) != c.moves {
					t.Errorf("the delivery is %s on %d: %q, %v", d.State, d.ChannelID, d.Reason, err)
				}
				addUp(t, s, registry)
			})
		})
	}
}

func TestRedeliveringAReport(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		keeper(t, s)(runAt(t, s, info.ID, reportDay.Add(9*time.Hour), 1))
		ids := []int64{waiting(t, s)[0].ID}
		enable := func(on bool) {
			if _, err := s.EnableReport(t.Context(), ada, info.ID, 0, on, reportDay); err != nil {
				t.Fatal(err)
			}
		}
		enable(false)
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Skipped: 1}) {
			t.Errorf("while it is off: %+v, %v", done, err)
		}
		enable(true)
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Done: 1}) || len(waiting(t, s)) != 1 {
			t.Errorf("enabled again: %+v, %v", done, err)
		}
	})
}

// A person's save while the platform is asked makes the run void, and it is asked
// again.
func TestARunOfAReportThatWasSavedMeanwhile(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		nine := reportDay.Add(9 * time.Hour)
		run := runAt(t, s, info.ID, nine, 12)
		info.InactivityDays = 3
		saveReport(t, s, info.Report, "")
		if keep(run) || len(waiting(t, s)) != 0 {
			t.Error("what it said before was sent")
		}
		if !keep(runAt(t, s, info.ID, nine, 12)) || len(waiting(t, s)) != 1 {
			t.Error("it was not asked again")
		}
		again := runAt(t, s, info.ID, nine.Add(24*time.Hour), 12)
		if err := s.DeleteReport(t.Context(), ada, info.ID, 0); err != nil {
			t.Fatal(err)
		}
		if keep(again) || len(waiting(t, s)) != 0 {
			t.Error("a report that was deleted meanwhile was sent")
		}
	})
}

// The platform is asked every minute for an hour; then the report has an error,
// until it runs again.
func TestARunThatThePlatformDoesNotAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		nine := reportDay.Add(9 * time.Hour)
		for minute := range 60 {
			at := nine.Add(time.Duration(minute) * time.Minute)
			if due, err := s.DueReports(t.Context(), at, 10); err != nil || len(due) != 1 {
				t.Fatalf("minute %d: %d reports have their turn, %v", minute, len(due), err)
			}
			if !keep(runAt(t, s, info.ID, at, -1)) {
				t.Fatalf("minute %d: not kept", minute)
			}
			if due, err := s.DueReports(t.Context(), at.Add(59*time.Second), 10); err != nil || len(due) != 0 {
				t.Fatalf("minute %d: it has another turn within the minute, %v", minute, err)
			}
			if now := reportNow(t, s, info.ID); !now.RetryingSince.Equal(nine) || now.LastError != "" || !now.LastRunAt.IsZero() {
				t.Fatalf("minute %d: %+v", minute, now)
			}
		}
		keep(runAt(t, s, info.ID, nine.Add(time.Hour), -1))
		now := reportNow(t, s, info.ID)
		if now.LastError != "The platform is down for maintenance." || !now.LastErrorAt.Equal(nine.Add(time.Hour)) ||
			!now.NextRunAt.Equal(nine.Add(24*time.Hour)) || !now.RetryingSince.IsZero() {
			t.Errorf("after an hour: %+v", now)
		}
		all := func(*notify.Report) bool { return true }
		if failing, err := s.FailingReports(t.Context(), 10, all); err != nil || len(failing) != 1 || failing[0].ID != info.ID {
			t.Errorf("failing: %+v, %v", failing, err)
		}
		keep(runAt(t, s, info.ID, nine.Add(24*time.Hour), 1))
		if failing, err := s.FailingReports(t.Context(), 10, all); err != nil || len(failing) != 0 {
			t.Errorf("failing after a good run: %+v, %v", failing, err)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_report_runs`); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
	})
}

func TestAReportWhoseTimeZoneVanished(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		zone := func(name string) {
			if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE notify_reports SET time_zone = $1`, name)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		zone("Europe/Atlantis")
		nine := reportDay.Add(9 * time.Hour)
		keep(runAt(t, s, info.ID, nine, 1))
		now := reportNow(t, s, info.ID)
		if want := `The report has no due time: the time zone "Europe/Atlantis" is not known here any more; choose another.`; now.LastError != want || !now.NextRunAt.IsZero() {
			t.Errorf("the report is %+v", now)
		}
		for _, on := range []bool{false, true} {
			if _, err := s.EnableReport(t.Context(), ada, info.ID, 0, on, nine); err != nil {
				t.Fatal(err)
			}
		}
		if due, err := s.DueReports(t.Context(), nine, 10); err != nil || len(due) != 1 {
			t.Errorf("%d reports have their turn, %v", len(due), err)
		}
		zone("Europe/Berlin")
		keep(runAt(t, s, info.ID, nine, 1))
		if now := reportNow(t, s, info.ID); !now.NextRunAt.Equal(nine.Add(23*time.Hour)) || len(waiting(t, s)) != 0 {
			t.Errorf("the zone is there again: %+v", now)
		}
	})
}

func TestRetentionOfRuns(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		for day := range 3 {
			keep(runAt(t, s, info.ID, reportDay.Add(time.Duration(24*day+9)*time.Hour), 1))
		}
		var deleted int64
		err := s.db.Write(t.Context(), func(tx *db.Tx) (err error) {
			deleted, err = DeleteReportRuns(t.Context(), tx, tx.Now().Add(time.Second), 2)
			return err
		})
		if left := count(t, s, `SELECT count(*) FROM notify_report_runs`); err != nil || deleted != 2 || left != 1 {
			t.Errorf("%d deleted, %d left, %v", deleted, left, err)
		}
	})
}

// A platform with many reports does not keep those of others waiting for all of
// its own.
func TestReportsOfEveryPlatformAreDue(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for range 5 {
			saveReport(t, s, someReport("one of many"), flowURL("a"))
		}
		another(t, s)
		alone := someReport("alone")
		alone.Connection = "second"
		last := saveReport(t, s, alone, flowURL("b"))
		due, err := s.DueReports(t.Context(), reportDay.Add(9*time.Hour), 3)
		if err != nil || len(due) != 3 {
			t.Fatalf("%d are due, %v", len(due), err)
		}
		if !slices.ContainsFunc(due, func(r notify.ReportInfo) bool { return r.ID == last.ID }) {
			t.Error("only those of one platform have their turn")
		}
	})
}

// Every due time is counted once as what became of it, whatever was asked in
// between and however often a run is kept.
func TestRunsOfReportsAreCounted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		s.Measure(prometheus.NewRegistry())
		keep := keeper(t, s)
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		nine := reportDay.Add(9 * time.Hour)
		day := 24 * time.Hour
		sent := runAt(t, s, info.ID, nine, 2)
		keep(sent)
		keep(sent)
		for minute := range 3 { // once more after the hour
			keep(runAt(t, s, info.ID, nine.Add(day).Add(time.Duration(minute)*30*time.Minute), -1))
		}
		keep(runAt(t, s, info.ID, nine.Add(2*day+7*time.Hour), 0)) // down for too long
		keep(runAt(t, s, info.ID, nine.Add(3*day), -1))
		keep(runAt(t, s, info.ID, nine.Add(3*day+7*time.Hour), 0)) // down while it was asked again
		keep(runAt(t, s, info.ID, nine.Add(4*day), -1))
		keep(runAt(t, s, info.ID, nine.Add(5*day+time.Hour), 0)) // for the newer due time
		got := map[notify.RunOutcome]float64{}
		name, fence := hold(t, s)
		for _, d := range waiting(t, s) { // that of the last due time
			if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: []*notify.Delivery{d}, State: notify.Delivered, Lease: name, Fence: fence}); err != nil {
				t.Fatal(err)
			}
		}
		for outcome, c := range s.runs.ended {
			got[outcome] = testutil.ToFloat64(c)
		}
		want := map[notify.RunOutcome]float64{notify.RunDelivered: 1, notify.RunCancelled: 1, notify.RunFailed: 2, notify.RunMissed: 2}
		if !maps.Equal(got, want) || testutil.ToFloat64(s.runs.retries) != 4 {
			t.Errorf("ended %v, want %v; %v retries", got, want, testutil.ToFloat64(s.runs.retries))
		}
	})
}
