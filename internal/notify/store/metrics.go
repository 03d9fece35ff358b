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
