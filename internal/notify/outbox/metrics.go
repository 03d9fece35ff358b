package outbox

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

type metrics struct {
	attempts   *prometheus.CounterVec
	took       prometheus.Histogram
	deliveries *prometheus.CounterVec
	broken     prometheus.Counter
	// Resolved once: a look-up by label for every message costs more than counting.
	byVerdict map[verdict]prometheus.Counter
	byState   map[notify.DeliveryState]prometheus.Counter
}

var verdictNames = map[verdict]string{done: "done", wait: "wait", reject: "reject", broken: "broken"}

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
		deliveries: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_notify_deliveries_total",
			Help: "Deliveries that ended, by state.",
		}, []string{"state"}),
		broken: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_notify_channels_broken_total",
			Help: "How many times a channel broke.",
		}),
		byVerdict: make(map[verdict]prometheus.Counter),
		byState:   make(map[notify.DeliveryState]prometheus.Counter),
	}
	for v, name := range verdictNames {
		m.byVerdict[v] = m.attempts.WithLabelValues(name)
	}
	for _, s := range []notify.DeliveryState{notify.Delivered, notify.Failed, notify.Cancelled} {
		m.byState[s] = m.deliveries.WithLabelValues(string(s))
	}
	return m
}

func (m *metrics) attempt(v verdict, took time.Duration) {
	m.byVerdict[v].Inc()
	m.took.Observe(took.Seconds())
}

func (m *metrics) kept(r *notify.Result) {
	if r.State != notify.Waiting {
		m.byState[r.State].Inc()
	}
	if r.SetAside != nil {
		m.byState[notify.Failed].Inc()
	}
	if r.Channel != nil && r.Channel.State == notify.Broken {
		m.broken.Inc()
	}
}
