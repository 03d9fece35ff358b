package authorizations

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
)

// What came of asking a platform for new tokens.
const (
	refreshed  = "refreshed"
	withdrawn  = "withdrawn"
	unanswered = "unanswered"
)

type metrics struct{ refreshes *prometheus.CounterVec }

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "outrigger_notify_authorization_refreshes_total",
		Help: "How many times platforms were asked for new tokens of an account, by outcome: refreshed, withdrawn (the platform takes the old " +
			"ones no more), unanswered (it is asked again).",
	}, []string{"outcome"})}
	for _, outcome := range []string{refreshed, withdrawn, unanswered} {
		m.refreshes.WithLabelValues(outcome)
	}
	return m
}

func (m *metrics) count(outcome string) { m.refreshes.WithLabelValues(outcome).Inc() }

var accountsDesc = prometheus.NewDesc("outrigger_notify_authorizations",
	"The accounts of cloud platforms, of the whole cluster, by state: active, withdrawn, revoked.", []string{"state"}, nil)

// scrapeTime bounds the counting for one scrape.
const scrapeTime = 5 * time.Second

// accountsGauge counts the accounts when it is asked.
type accountsGauge struct{ store Store }

// Describe is of prometheus.Collector.
func (g *accountsGauge) Describe(to chan<- *prometheus.Desc) { to <- accountsDesc }

// Collect is of prometheus.Collector. What cannot be counted now is left out.
func (g *accountsGauge) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	found, err := g.store.CountAuthorizations(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(accountsDesc, err)
		return
	}
	for _, state := range []notify.AuthorizationState{notify.AuthorizationActive, notify.AuthorizationWithdrawn, notify.AuthorizationRevoked} {
		to <- prometheus.MustNewConstMetric(accountsDesc, prometheus.GaugeValue, float64(found[state]), string(state))
	}
}
