package outbox

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	attempts *prometheus.CounterVec
	took     prometheus.Histogram
	broken   prometheus.Counter
	// Resolved once: a look-up by label for every message costs more than counting.
	byVerdict map[verdict]prometheus.Counter
}

var verdictNames = map[verdict]string{done: "done", wait: "wait", reject: "reject", broken: "broken", paused: "paused"}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	m := &metrics{
		attempts: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_notify_attempts_total",
			Help: "Messages posted to chat channels, by what the answer meant.",
		}, []string{"verdict"}),
		took: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "outrigger_notify_attempt_seconds",
			Help:    "How long a chat platform took to answer.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		broken: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_notify_channels_broken_total",
			Help: "How many times a channel broke.",
		}),
		byVerdict: make(map[verdict]prometheus.Counter),
	}
	for v, name := range verdictNames {
		m.byVerdict[v] = m.attempts.WithLabelValues(name)
	}
	return m
}

func (m *metrics) attempt(v verdict, took time.Duration) {
	m.byVerdict[v].Inc()
	m.took.Observe(took.Seconds())
}
