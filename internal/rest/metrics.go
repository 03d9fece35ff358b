package rest

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests. Labels are bounded: the path of a route as it was
// added, the methods of RFC 9110, the statuses that we answer.
type metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec

	mu    sync.RWMutex
	known map[answered]series
}

// answered has the labels of a request.
type answered struct {
	route, method string
	status        int
}

// series are remembered by their labels, because finding them in a vector takes longer
// than counting.
type series struct {
	requests prometheus.Counter
	duration prometheus.Observer
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
		known: map[answered]series{},
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
	s := m.series(answered{route, knownMethod(method), x.status})
	s.requests.Inc()
	s.duration.Observe(took.Seconds())
}

func (m *metrics) series(of answered) series {
	m.mu.RLock()
	s, ok := m.known[of]
	m.mu.RUnlock()
	if ok {
		return s
	}
	s = series{m.requests.WithLabelValues(of.route, of.method, strconv.Itoa(of.status)), m.durations.WithLabelValues(of.route)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[of] = s
	return s
}

// knownMethod bounds what a client can make a label of.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS":
		return method
	}
	return "other"
}
