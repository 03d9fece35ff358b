package relay

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"outrigger/internal/db"
)

// metrics are the figures that only the relay knows. How many messages wait is measured
// elsewhere, for every kind of source.
type metrics struct {
	sent     prometheus.Counter
	failed   prometheus.Counter
	deferred prometheus.Counter
	received prometheus.Counter
	refused  *prometheus.CounterVec
}

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 2 * time.Second

func newMetrics(r prometheus.Registerer, q *Queue) *metrics {
	f := promauto.With(r)
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "outrigger_mail_queue_oldest_message_age_seconds",
		Help: "How long the oldest message in this node's relay has waited; 0: none waits.",
	}, q.oldestAge)
	return &metrics{
		sent: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_mail_queue_sent_total",
			Help: "Messages that the smarthost has taken; one that it took in several transactions counts for each.",
		}),
		failed: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_mail_queue_failed_total",
			Help: "Messages that came into the error queue.",
		}),
		deferred: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_mail_queue_deferred_total",
			Help: "Attempts after which a message waits to be tried again.",
		}),
		received: f.NewCounter(prometheus.CounterOpts{
			Name: "outrigger_mail_received_total",
			Help: "Messages that the relay has acknowledged.",
		}),
		refused: f.NewCounterVec(prometheus.CounterOpts{
			Name: "outrigger_mail_refused_total",
			Help: "Messages and connections that the relay refused, by SMTP code.",
		}, []string{"code"}),
	}
}

// oldestAge is OldestAge in seconds for a scrape; NaN if the database does not answer.
func (q *Queue) oldestAge() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	age, err := q.OldestAge(ctx)
	if err != nil {
		return math.NaN()
	}
	return age.Seconds()
}

// OldestAge returns how long the oldest message of this node's queue has waited; 0 if
// none waits.
func (q *Queue) OldestAge(ctx context.Context) (age time.Duration, err error) {
	err = q.db.Read(ctx, func(tx *db.Tx) error {
		oldest, err := readOldest(ctx, tx, q.o.NodeID)
		if err == nil && !oldest.IsZero() {
			age = max(tx.Now().Sub(oldest), 0)
		}
		return err
	})
	return age, err
}
