package source

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/threads"
)

// Metrics count what goes through the self-hosted side.
type Metrics struct {
	pages   prometheus.Counter
	records prometheus.Counter
	written *prometheus.CounterVec
}

// NewMetrics registers the figures; r may be nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	return &Metrics{
		pages: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_threads_export_pages_total",
			Help: "Pages of the hierarchy that were answered.",
		}),
		records: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_threads_export_records_total",
			Help: "Records in the pages of the hierarchy that were answered.",
		}),
		written: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_threads_imported_total",
			Help: "Records and mappings of imported files, by outcome: added, replaced, unchanged.",
		}, []string{"outcome"}),
	}
}

// Exported counts a page of the hierarchy.
func (m *Metrics) Exported(records int) {
	m.pages.Inc()
	m.records.Add(float64(records))
}

// Imported counts what became of an imported file.
func (m *Metrics) Imported(n threads.ImportCounts) {
	m.written.WithLabelValues("added").Add(float64(n.Added))
	m.written.WithLabelValues("replaced").Add(float64(n.Replaced))
	m.written.WithLabelValues("unchanged").Add(float64(n.Unchanged))
}
