package db

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the figures of the write path.
type metrics struct {
	commits prometheus.Counter
	group   prometheus.Histogram
	batch   *prometheus.HistogramVec
	wait    prometheus.Histogram
	commit  prometheus.Histogram
	log     *prometheus.HistogramVec
	lost    prometheus.Counter
}

// newMetrics registers the figures with r, which may be nil.
func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	sizes := prometheus.ExponentialBuckets(1, 4, 5)      // 1 … 256, the largest group
	times := prometheus.ExponentialBuckets(0.0005, 4, 7) // 0.5 ms … 2 s
	return &metrics{
		commits: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_db_commits_total",
			Help: "Transactions committed to the database.",
		}),
		group: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "outrigger_db_group_size",
			Help:    "Writes that one transaction took; a batch counts as one.",
			Buckets: sizes,
		}),
		batch: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "outrigger_db_batch_size",
			Help:    "Items that one batch took.",
			Buckets: sizes,
		}, []string{"batch"}),
		wait: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "outrigger_db_queue_wait_seconds",
			Help:    "How long a write waited for its turn.",
			Buckets: times,
		}),
		commit: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "outrigger_db_commit_seconds",
			Help:    "How long a commit took, until it was on disk; what comes in waits for one.",
			Buckets: times,
		}),
		log: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "outrigger_db_log_seconds",
			Help: "How long SQLite's writer saw to its log after a commit; what comes in waits for it. begin: whether it is long enough " +
				"to be moved, finish: the last of it is moved, trim: it is emptied where it grew too long.",
			Buckets: times,
		}, []string{"step"}),
		lost: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_db_leases_lost_total",
			Help: "Leases that this node lost: they lapsed or became another node's, since the database was slow or away.",
		}),
	}
}
