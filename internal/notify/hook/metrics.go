package hook

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

// Metrics count what comes in. Labels are bounded: outcomes and reasons, never
// keys or names from outside.
type Metrics struct {
	webhooks *prometheus.CounterVec
	refusals *prometheus.CounterVec
	events   prometheus.Counter
}

// NewMetrics registers the receiver's metrics; r may be nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	return &Metrics{
		webhooks: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_notify_webhooks_total",
			Help: "Verified webhooks, by outcome: understood, silent, unknown, not_understood, duplicate.",
		}, []string{"outcome"}),
		refusals: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_notify_webhooks_refused_total",
			Help: "Webhooks that were refused, by reason: unknown_hook, body, signature, no_secret, scope.",
		}, []string{"reason"}),
		events: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_notify_events_total",
			Help: "Events in verified webhooks.",
		}),
	}
}

func (m *Metrics) refused(why notify.RefusalReason) { m.refusals.WithLabelValues(string(why)).Inc() }

func (m *Metrics) accepted(r *notify.Receipt) {
	if r.Duplicate {
		m.webhooks.WithLabelValues("duplicate").Inc()
		return
	}
	m.webhooks.WithLabelValues(string(r.Outcome)).Inc()
	m.events.Add(float64(len(r.Events)))
}
