package processing

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
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
