package watch

import (
	"context"
	"sync"
	"time"

	"outrigger/internal/mailqueue"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures are what this process has read of queues, for Prometheus: its own
// node's, and those of the nodes that it watches. The figures of another node
// are on that node's page.
type Figures struct {
	clock                        func() time.Time
	size, errorSize, age, failed *prometheus.Desc

	relay mailqueue.Source // nil: this node's source is another
	node  string           // whose relay it is

	mu   sync.Mutex
	last map[string]figure // by node
}

// figure is the last sizes that a source gave, and whether it gave any when it
// was asked last.
type figure struct {
	mailqueue.Sizes
	at     time.Time // zero: it never did
	failed bool
}

// NewFigures registers the figures; r may be nil.
func NewFigures(r prometheus.Registerer, clock func() time.Time) *Figures {
	node := []string{"node"}
	f := &Figures{
		clock: clock, last: map[string]figure{},
		size: prometheus.NewDesc("outrigger_mail_queue_messages", "Messages in the mail queue when it was last read; "+
			"those of Outrigger's own relay are counted now.", node, nil),
		errorSize: prometheus.NewDesc("outrigger_mail_queue_error_messages", "Messages in the mail error queue when it was last read; "+
			"those of Outrigger's own relay are counted now.", node, nil),
		age: prometheus.NewDesc("outrigger_mail_queue_sample_age_seconds",
			"How long ago the queue was last read; it grows while its source does not answer.", node, nil),
		failed: prometheus.NewDesc("outrigger_mail_queue_sample_failed", "1 when the source gave no sizes when it was asked last, else 0.", node,
			nil),
	}
	if r != nil {
		r.MustRegister(f)
	}
	return f
}

// Count has the figures of this node be its relay's, counted when they are asked
// for: so they are exact, and only the database is asked.
func (f *Figures) Count(node string, relay mailqueue.Source) { f.node, f.relay = node, relay }

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 2 * time.Second

// asked notes what a source gave just now: sizes, or an error.
func (f *Figures) asked(node string, s mailqueue.Sizes, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		last := f.last[node]
		last.failed = true
		f.last[node] = last
		return
	}
	f.last[node] = figure{Sizes: s, at: f.clock()}
}

// forget leaves a node out, which another process watches from now on.
func (f *Figures) forget(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.last, node)
}

// Describe is of prometheus.Collector.
func (f *Figures) Describe(to chan<- *prometheus.Desc) {
	to <- f.size
	to <- f.errorSize
	to <- f.age
	to <- f.failed
}

// Collect is of prometheus.Collector.
func (f *Figures) Collect(to chan<- prometheus.Metric) {
	if f.relay != nil {
		s := ask(context.Background(), f.relay, scrapeTime)
		f.asked(f.node, s.Sizes, s.Failure)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for node, l := range f.last {
		failed := 0.0
		if l.failed {
			failed = 1
		}
		to <- prometheus.MustNewConstMetric(f.failed, prometheus.GaugeValue, failed, node)
		if l.at.IsZero() {
			continue
		}
		to <- prometheus.MustNewConstMetric(f.size, prometheus.GaugeValue, float64(l.Size), node)
		to <- prometheus.MustNewConstMetric(f.errorSize, prometheus.GaugeValue, float64(l.ErrorSize), node)
		to <- prometheus.MustNewConstMetric(f.age, prometheus.GaugeValue, max(f.clock().Sub(l.at), 0).Seconds(), node)
	}
}
