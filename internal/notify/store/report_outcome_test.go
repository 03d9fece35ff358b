package store

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

const refusedReason = "HTTP 400: invalid_payload"

// What came of a run is what came of its message, whoever ended it, and of each
// report its own.
func TestTheOutcomeOfARunIsThatOfItsMessage(t *testing.T) {
	nine, day := reportDay.Add(9*time.Hour), 24*time.Hour
	for _, c := range []struct {
		name    string
		then    func(t *testing.T, s *Store, report notify.ReportInfo, message int64)
		want    notify.RunOutcome
		why     string
		counted map[notify.RunOutcome]float64 // what ended
	}{
		{"it waits", func(*testing.T, *Store, notify.ReportInfo, int64) {}, notify.RunWaiting, "", nil},
		{"it is delivered", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			endWith(t, s, id, notify.Delivered)
		}, notify.RunDelivered, "", map[notify.RunOutcome]float64{notify.RunDelivered: 1}},
		{"the chat refuses it", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			endWith(t, s, id, notify.Failed)
		}, notify.RunFailed, refusedReason, map[notify.RunOutcome]float64{notify.RunFailed: 1}},
		{"it is cancelled", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			if n, err := s.Cancel(t.Context(), ada, []int64{id}); err != nil || n.Done != 1 {
				t.Fatal(n, err)
			}
		}, notify.RunCancelled, "", map[notify.RunOutcome]float64{notify.RunCancelled: 1}},
		{"it is cancelled while it is under way, and arrives", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			d, _, err := s.Delivery(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Cancel(t.Context(), ada, []int64{id}); err != nil {
				t.Fatal(err)
			}
			endDelivery(t, s, d, notify.Delivered)
		}, notify.RunDelivered, "", map[notify.RunOutcome]float64{notify.RunCancelled: 1, notify.RunDelivered: 1}},
		{"it is cancelled while it is under way, and is refused", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			d, _, err := s.Delivery(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Cancel(t.Context(), ada, []int64{id}); err != nil {
				t.Fatal(err)
			}
			endDelivery(t, s, d, notify.Failed)
		}, notify.RunCancelled, "", map[notify.RunOutcome]float64{notify.RunCancelled: 1}},
		{"it is refused, and redelivered", func(t *testing.T, s *Store, _ notify.ReportInfo, id int64) {
			endWith(t, s, id, notify.Failed)
			if done, err := s.Redeliver(t.Context(), ada, []int64{id}); err != nil || done.Done != 1 {
				t.Fatal(done, err)
			}
		}, notify.RunWaiting, "", map[notify.RunOutcome]float64{notify.RunFailed: 1}},
		{"it waits for too long", func(t *testing.T, s *Store, _ notify.ReportInfo, _ int64) {
			if n, err := s.Expire(t.Context(), allShards, notify.Limits{MaxAge: day, MaxWaiting: 1}); err != nil || n != 1 {
				t.Fatal(n, err)
			}
		}, notify.RunFailed, expiredByCount, map[notify.RunOutcome]float64{notify.RunFailed: 1}},
		{"it is refused, and the next one is delivered", func(t *testing.T, s *Store, r notify.ReportInfo, id int64) {
			endWith(t, s, id, notify.Failed)
			keeper(t, s)(runAt(t, s, r.ID, nine.Add(day), 1))
			endWith(t, s, reportNow(t, s, r.ID).LastDelivery.ID, notify.Delivered)
		}, notify.RunDelivered, "", map[notify.RunOutcome]float64{notify.RunFailed: 1, notify.RunDelivered: 1}},
		{"the next one takes its place", func(t *testing.T, s *Store, r notify.ReportInfo, _ int64) {
			keeper(t, s)(runAt(t, s, r.ID, nine.Add(day), 1))
		}, notify.RunWaiting, "", map[notify.RunOutcome]float64{notify.RunCancelled: 1}},
		{"it is delivered, and then the platform does not answer", func(t *testing.T, s *Store, r notify.ReportInfo, id int64) {
			endWith(t, s, id, notify.Delivered)
			for minute := range 61 {
				keeper(t, s)(runAt(t, s, r.ID, nine.Add(day+time.Duration(minute)*time.Minute), -1))
			}
		}, notify.RunFailed, "The platform is down for maintenance.", map[notify.RunOutcome]float64{notify.RunDelivered: 1, notify.RunFailed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				s.Measure(prometheus.NewRegistry())
				var reports []notify.ReportInfo
				for i := range 3 {
					r := saveReport(t, s, someReport(fmt.Sprint("stale ", i)), flowURL("a"))
					reports = append(reports, r)
					if outcome := r.LastOutcome(); outcome != "" {
						t.Errorf("before it ran it was %s", outcome)
					}
				}
				keep := keeper(t, s)
				for _, r := range []notify.ReportInfo{reports[1], reports[0], reports[2]} { // the first of the channel
					keep(runAt(t, s, r.ID, nine, 1))
				}
				endWith(t, s, reportNow(t, s, reports[0].ID).LastDelivery.ID, notify.Delivered)
				before := runsCounted(s)
				c.then(t, s, reports[1], reportNow(t, s, reports[1].ID).LastDelivery.ID)
				info := reportNow(t, s, reports[1].ID)
				why, at := info.LastFailure()
				if info.LastOutcome() != c.want || why != c.why || at.IsZero() != (c.why == "") {
					t.Errorf("it is %q, %q at %s; want %q, %q", info.LastOutcome(), why, at, c.want, c.why)
				}
				failing, err := s.FailingReports(t.Context(), 10, func(*notify.Report) bool { return true })
				if err != nil || (len(failing) == 1 && failing[0].ID == info.ID) != (c.want == notify.RunFailed) || len(failing) > 1 {
					t.Errorf("failing are %+v, %v", failing, err)
				}
				if first, last := reportNow(t, s, reports[0].ID), reportNow(t, s, reports[2].ID); first.LastOutcome() != notify.RunDelivered || last.LastOutcome() != notify.RunWaiting {
					t.Errorf("the others are %q and %q", first.LastOutcome(), last.LastOutcome())
				}
				ended := runsCounted(s)
				maps.DeleteFunc(ended, func(outcome notify.RunOutcome, n float64) bool { return n == before[outcome] })
				for outcome, n := range before {
					if ended[outcome] > 0 {
						ended[outcome] -= n
					}
				}
				if !maps.Equal(ended, c.counted) {
					t.Errorf("ended %v, want %v", ended, c.counted)
				}
			})
		})
	}
}

// endWith ends a message that waits as a chat did.
func endWith(t *testing.T, s *Store, id int64, state notify.DeliveryState) {
	t.Helper()
	d, _, err := s.Delivery(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	endDelivery(t, s, d, state)
}

func endDelivery(t *testing.T, s *Store, d *notify.Delivery, state notify.DeliveryState) {
	t.Helper()
	r := &notify.Result{Deliveries: []*notify.Delivery{d}, State: state, Attempt: &work.Attempt{At: reportDay, Status: 200}}
	if state == notify.Failed {
		r.Reason, r.Attempt.Status = refusedReason, 400
	}
	r.Lease, r.Fence = hold(t, s)
	if err := s.SaveResult(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func runsCounted(s *Store) map[notify.RunOutcome]float64 {
	counted := make(map[notify.RunOutcome]float64)
	for outcome, c := range s.runs.ended {
		counted[outcome] = testutil.ToFloat64(c)
	}
	return counted
}
