package processing

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// metrics count what this node does.
type metrics struct {
	records  prometheus.Counter
	requests *prometheus.CounterVec
	stalls   prometheus.Counter
	ended    *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	return &metrics{
		records: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_threads_records_total",
			Help: "Records of the migration that were processed, errors included.",
		}),
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_threads_target_total",
			Help: "Issues that the target was asked about, by outcome: ok, missing, forbidden, limited, failed, refused.",
		}, []string{"outcome"}),
		ended: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_threads_migrations_total",
			Help: "How often processing ended on this node, by how: completed, failed, paused, undone.",
		}, []string{"outcome"}),
		stalls: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_threads_stalls_total",
			Help: "Workers that made no progress for five minutes and were replaced.",
		}),
	}
}

var (
	phaseDesc = prometheus.NewDesc("outrigger_threads_migration",
		"1 for the phase that the migration is in, 0 for the others.", []string{"phase"}, nil)
	migrationRecordsDesc = prometheus.NewDesc("outrigger_threads_migration_records",
		"Distinct records of the migration, those that are done, and permanent errors among these.", []string{"state"}, nil)
	waitDesc = prometheus.NewDesc("outrigger_threads_migration_wait_seconds",
		"How long the target is still waited for; 0 while it is not.", nil, nil)
)

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 2 * time.Second

// migrationMetrics reads how the migration stands when it is asked: the same on
// every node.
type migrationMetrics struct {
	store *store.Store
	clock func() time.Time
}

// Describe is of prometheus.Collector.
func (m *migrationMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- phaseDesc
	to <- migrationRecordsDesc
	to <- waitDesc
}

// Collect is of prometheus.Collector. What cannot be read now is left out.
func (m *migrationMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	now, err := m.store.Migration(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(phaseDesc, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, phase := range threads.Phases() {
		in := 0.0
		if phase == now.Phase {
			in = 1
		}
		gauge(phaseDesc, in, strings.ToLower(string(phase)))
	}
	gauge(migrationRecordsDesc, float64(now.Records), "all")
	gauge(migrationRecordsDesc, float64(now.RecordsDone), "done")
	gauge(migrationRecordsDesc, float64(now.Permanent), "error")
	wait := 0.0
	if now.Phase == threads.PhaseProcessing {
		wait = max(now.Pace.WaitUntil.Sub(m.clock()).Seconds(), 0)
	}
	gauge(waitDesc, wait)
}
