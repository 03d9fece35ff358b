// Package relay is a durable queue for outgoing mail: an SMTP server that
// acknowledges a message when it is committed, and a sender that passes it on
// to the smarthost, byte for byte.
//
// A Queue is what both have in common, and what administrators work on. The
// Intake takes messages in; the Sender, on the node that holds the queue's
// lease, sends them, keeps the outcome for each recipient, and tries again.
package relay

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of the queues. Administration also needs that of
// audit.
var Migrations = db.Migrations{Name: "relay", FS: migrations}

// maxBatch is how many messages or outcomes one transaction takes, as many as
// the database's own group commit.
const maxBatch = 256

// Options say what a Queue needs.
type Options struct {
	NodeID  string // whose queue this node fills and sends
	Leases  *db.Leases
	Dir     string                // where large messages are kept while they come in; "" is the system's
	Log     *slog.Logger          // nil: nothing is logged
	Metrics prometheus.Registerer // nil: not registered
}

// Queue is the messages of all nodes in the database, and of those of this
// node what is in memory. It is a mailqueue.Relay.
type Queue struct {
	o       Options
	db      *db.DB
	codec   *codec
	metrics *metrics
	out     dispatch

	arrivals *db.Batch[*arrival]
	results  *db.Batch[*result]

	mu    sync.Mutex
	known tally // on SQLite, where all that changes it is in this process
}

var _ mailqueue.Relay = (*Queue)(nil)

// tally is the two numbers of a queue and which change of them it is.
type tally struct {
	mailqueue.Sizes
	version int64
}

// New makes a Queue on a migrated database.
func New(d *db.DB, o Options) (*Queue, error) {
	codec, err := newCodec()
	if err != nil {
		return nil, err
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	q := &Queue{o: o, db: d, codec: codec, out: newDispatch()}
	q.arrivals = db.NewBatch(d, "mail", maxBatch, q.writeArrivals)
	q.results = db.NewBatch(d, "mail results", maxBatch, q.writeResults)
	q.metrics = newMetrics(o.Metrics, q)
	return q, nil
}

// Start makes this node's queue known. Call it before anything else.
func (q *Queue) Start(ctx context.Context) error {
	err := q.db.Write(ctx, func(tx *db.Tx) error { return q.ensure(ctx, tx, q.o.NodeID) })
	if err != nil {
		return fmt.Errorf("opening the mail queue: %w", err)
	}
	return nil
}

// ensure has a row for a node, and on SQLite learns what it says.
func (q *Queue) ensure(ctx context.Context, tx *db.Tx, node string) error {
	if err := tx.Do(ctx, "creating the queue of "+node,
		`INSERT INTO relay_queues (node_id, size, error_size, version, paused, changes, flushes, held_until, held_for)
		VALUES ($1, 0, 0, 1, 0, 0, 0, 0, '') ON CONFLICT DO NOTHING`, node); err != nil {
		return err
	}
	return q.count(ctx, tx, node, mailqueue.Sizes{})
}

// count changes the two numbers of a queue with the messages, in their
// transaction and behind everything else: the row is what transactions meet at.
func (q *Queue) count(ctx context.Context, tx *db.Tx, node string, change mailqueue.Sizes) error {
	var now tally
	found, err := tx.Find(ctx, "counting the messages of "+node, []any{&now.Size, &now.ErrorSize, &now.version},
		`UPDATE relay_queues SET size = size + $2, error_size = error_size + $3, version = version + 1, used = CASE
		WHEN $2 > 0 THEN 1 ELSE used END
		WHERE node_id = $1 RETURNING size, error_size, version`, node, change.Size, change.ErrorSize)
	if err == nil && !found { // it was handed over, and fills again
		if err = q.ensure(ctx, tx, node); err == nil {
			err = q.count(ctx, tx, node, change)
		}
		return err
	}
	if err != nil {
		return err
	}
	if tx.Dialect() == db.SQLite && node == q.o.NodeID {
		tx.AfterCommit(func() { q.learn(now) })
	}
	return nil
}

// learn keeps the latest tally: AfterCommit functions run in any order.
func (q *Queue) learn(now tally) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.version > q.known.version {
		q.known = now
	}
}

// Sizes are the two numbers of this node's queue, as they are now: on SQLite
// from memory, since only this process changes them; on PostgreSQL
// from one row, since other nodes' administrators may have changed it.
func (q *Queue) Sizes(ctx context.Context) (mailqueue.Sizes, error) {
	if q.db.Dialect() == db.SQLite {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.known.Sizes, nil
	}
	all, err := q.sizesByNode(ctx)
	return all[q.o.NodeID], err
}
