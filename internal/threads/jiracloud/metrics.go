package jiracloud

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics count requests to the site.
type metrics struct{ requests *prometheus.CounterVec }

func newMetrics(r prometheus.Registerer) *metrics {
	return &metrics{promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "outrigger_threads_cloud_requests_total",
		Help: "Requests to the cloud site, by method and by the status of the answer; 0 where none came.",
	}, []string{"method", "status"})}
}

func (m *metrics) answered(e endpoint, status int) {
	m.requests.WithLabelValues(e.method(), strconv.Itoa(status)).Inc()
}
