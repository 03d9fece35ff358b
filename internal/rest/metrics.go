package rest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests. Labels are bounded: the path of a route as it was
// added, the methods of RFC 9110, the statuses that we answer.
type metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_http_requests_total",
			Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "outrigger_http_request_duration_seconds",
			Help:    "How long requests took, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.durations} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering the metrics of requests: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(x *exchange, method string, took time.Duration) {
	route := "other" // the console, and what nothing has
	if x.route != nil {
		route = x.route.Path
	}
	m.requests.WithLabelValues(route, knownMethod(method), strconv.Itoa(x.status)).Inc()
	m.durations.WithLabelValues(route).Observe(took.Seconds())
}

// knownMethod bounds what a client can make a label of.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS":
		return method
	}
	return "other"
}
