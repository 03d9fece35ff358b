package deciding

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

type metrics struct {
	decisions *prometheus.CounterVec
	exhausted prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	return &metrics{
		decisions: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_notify_decisions_total",
			Help: "Rules decided after the webhook was acknowledged, by decision: taken, refused, unanswered (taken, since something could " +
				"not be asked).",
		}, []string{"decision"}),
		exhausted: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_notify_masks_exhausted_total",
			Help: "How many times a branch mask took too many steps.",
		}),
	}
}

func (m *metrics) count(settlements []*notify.Settlement) {
	for _, s := range settlements {
		for _, one := range s.Decisions {
			switch {
			case !one.Taken:
				m.decisions.WithLabelValues("refused").Inc()
			case one.Note != "":
				m.decisions.WithLabelValues("unanswered").Inc()
			default:
				m.decisions.WithLabelValues("taken").Inc()
			}
		}
	}
}
