package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/notify"
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

var (
	waitingDesc = prometheus.NewDesc("outrigger_notify_waiting",
		"Deliveries that wait, on the channels that this node works on.", nil, nil)
	decidingDesc = prometheus.NewDesc("outrigger_notify_deciding",
		"Deliveries whose rules are not decided yet, on the channels that this node works on.", nil, nil)
	oldestDesc = prometheus.NewDesc("outrigger_notify_oldest_waiting_seconds",
		"How long the oldest of them has waited; 0 when none waits.", nil, nil)
	channelsDesc = prometheus.NewDesc("outrigger_notify_channels",
		"The channels that this node works on, by state: open, waiting, unreachable, broken.", []string{"state"}, nil)
)

const (
	// scrapeTime bounds the counting for one scrape.
	scrapeTime = 5 * time.Second
	// scrapeEvery spares the database several scrapers.
	scrapeEvery = time.Second
)

// backlogMetrics counts what waits when it is asked.
type backlogMetrics struct {
	b *Outbox

	mu   sync.Mutex
	at   time.Time
	last notify.Backlog
}

// Describe is of prometheus.Collector.
func (m *backlogMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- waitingDesc
	to <- decidingDesc
	to <- oldestDesc
	to <- channelsDesc
}

// Collect is of prometheus.Collector. What cannot be counted now is left out.
func (m *backlogMetrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.b.Clock()
	if m.at.IsZero() || now.Sub(m.at) >= scrapeEvery {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		found, err := m.b.Queue.Backlog(ctx, m.b.Holding())
		if err != nil {
			to <- prometheus.NewInvalidMetric(waitingDesc, err)
			return
		}
		m.at, m.last = now, found
	}
	to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(m.last.Waiting))
	to <- prometheus.MustNewConstMetric(decidingDesc, prometheus.GaugeValue, float64(m.last.Deciding))
	age := 0.0
	if !m.last.Oldest.IsZero() {
		age = max(now.Sub(m.last.Oldest).Seconds(), 0)
	}
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, age)
	for state, n := range m.last.Channels {
		to <- prometheus.MustNewConstMetric(channelsDesc, prometheus.GaugeValue, float64(n), state)
	}
}

// proxyGauge reports whether the proxy lets nothing through.
func (b *Outbox) proxyGauge() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "outrigger_notify_proxy_paused",
		Help: "1 while the outgoing proxy lets nothing of this node through, and every channel that goes by it waits.",
	}, func() float64 {
		if b.proxy.paused() {
			return 1
		}
		return 0
	})
}
