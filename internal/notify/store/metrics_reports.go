package store

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

// runCounts count what became of the due times of reports, each once at the
// commit that ended it. A nil one counts nothing.
type runCounts struct {
	ended   map[notify.RunOutcome]prometheus.Counter
	retries prometheus.Counter
}

func newRunCounts(f promauto.Factory) *runCounts {
	ended := f.NewCounterVec(prometheus.CounterOpts{
		Name: "outrigger_notify_report_runs_total",
		Help: "Due times of activity reports that ended, by outcome: sent (queued for its channel), failed (the platform did not answer for an hour), missed (Outrigger was down for too long).",
	}, []string{"outcome"})
	c := &runCounts{ended: make(map[notify.RunOutcome]prometheus.Counter), retries: f.NewCounter(prometheus.CounterOpts{
		Name: "outrigger_notify_report_retries_total",
		Help: "How many times a platform did not answer for an activity report and is asked again.",
	})}
	for _, outcome := range []notify.RunOutcome{notify.RunSent, notify.RunFailed, notify.RunMissed} {
		c.ended[outcome] = ended.WithLabelValues(string(outcome))
	}
	return c
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
