package store

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

// expired is what counters call the failed deliveries that waited too long or
// were too many. Their state is failed; the reason says why.
const expired notify.DeliveryState = "expired"

// deliveryCounts count the outcomes of deliveries, each once at the commit
// that made it so: matched is what waits and all that ended, whatever ended
// it. A nil one counts nothing.
type deliveryCounts struct {
	matched prometheus.Counter
	ended   map[notify.DeliveryState]prometheus.Counter
}

// Measure registers the counters of deliveries and of reports. It must be called before the
// store is used.
func (s *Store) Measure(r prometheus.Registerer) {
	f := promauto.With(r)
	ended := f.NewCounterVec(prometheus.CounterOpts{
		Name: "outrigger_notify_deliveries_total",
		Help: "Deliveries that ended, by state: delivered, failed, cancelled, expired (waited too long, or too many waited).",
	}, []string{"state"})
	c := &deliveryCounts{
		matched: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_notify_matched_total",
			Help: "Deliveries that events made or that were put back into the queue by hand; what of them has not ended waits.",
		}),
		ended: make(map[notify.DeliveryState]prometheus.Counter),
	}
	for _, state := range []notify.DeliveryState{notify.Delivered, notify.Failed, notify.Cancelled, expired} {
		c.ended[state] = ended.WithLabelValues(string(state))
	}
	s.counts, s.runs = c, newRunCounts(f)
}

func (c *deliveryCounts) match(n int) {
	if c != nil {
		c.matched.Add(float64(n))
	}
}

func (c *deliveryCounts) end(state notify.DeliveryState, n int) {
	if c != nil {
		c.ended[state].Add(float64(n))
	}
}

// runCounts count what became of the due times of reports, each at the commit that
// ended it: those that have a message where that ends. A nil one counts nothing.
type runCounts struct {
	ended   map[notify.RunOutcome]prometheus.Counter
	retries prometheus.Counter
}

func newRunCounts(f promauto.Factory) *runCounts {
	ended := f.NewCounterVec(prometheus.CounterOpts{
		Name: "outrigger_notify_report_runs_total",
		Help: "Due times of activity reports that ended, by outcome: delivered, failed (the chat refused the message, or the platform " +
			"did not answer for an hour), cancelled (by the next report, or by a person), missed (Outrigger was down for too long). One " +
			"that is sent again ends again.",
	}, []string{"outcome"})
	c := &runCounts{ended: make(map[notify.RunOutcome]prometheus.Counter), retries: f.NewCounter(prometheus.CounterOpts{
		Name: "outrigger_notify_report_retries_total",
		Help: "How many times a platform did not answer for an activity report and is asked again.",
	})}
	for _, outcome := range []notify.RunOutcome{notify.RunDelivered, notify.RunFailed, notify.RunCancelled, notify.RunMissed} {
		c.ended[outcome] = ended.WithLabelValues(string(outcome))
	}
	return c
}

// end counts messages of reports that ended.
func (c *runCounts) end(state notify.DeliveryState, n int) {
	if state == expired {
		state = notify.Failed
	}
	if c != nil && n > 0 {
		c.ended[notify.RunOutcome(state)].Add(float64(n))
	}
}

func (c *runCounts) count(run *notify.ReportRun) {
	if c == nil {
		return
	}
	for _, outcome := range run.Outcomes() {
		c.ended[outcome].Inc()
	}
	if !run.FailingSince.IsZero() {
		c.retries.Inc()
	}
}
