package mailqueuetest

import (
	"context"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
	"outrigger/internal/mailqueue/relay"
	"outrigger/internal/mailqueue/store"
)

// Schema is what the wing's tables need.
var Schema = []db.Migrations{audit.Migrations, cluster.Migrations, store.Migrations, relay.Migrations}

// World is the wing on a database, amid what a test says of everything else.
type World struct {
	DB      *db.DB
	Service *admin.Service
	Store   *store.Store
	Nodes   *Nodes
	Relay   *Relay
	Source  *Source
}

// NewWorld makes a World whose Service is that of node_1, in a cluster. The
// database needs Schema.
func NewWorld(d *db.DB) *World {
	w := &World{
		DB: d, Store: store.New(d), Nodes: &Nodes{}, Relay: &Relay{},
		Source: &Source{Now: mailqueue.Sizes{Size: 26, ErrorSize: 2}},
	}
	w.Service = &admin.Service{
		NodeID: "node_1", Clustered: true, Own: w.Source, Source: "postfix", Cluster: w.Nodes, Store: w.Store, Relay: w.Relay,
	}
	return w
}

// Shift moves all that is stored about samples back, as if time had gone on.
func Shift(ctx context.Context, d *db.DB, by time.Duration) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		for _, q := range []string{
			`UPDATE mailqueue_nodes SET sampled_at = sampled_at - $1 WHERE sampled_at > 0`,
			`UPDATE mailqueue_nodes SET failing_since = failing_since - $1 WHERE failing_since > 0`,
			`UPDATE mailqueue_nodes SET changed_at = changed_at - $1, mail_at = mail_at - $1`,
			`UPDATE mailqueue_samples SET at = at - $1`,
			`UPDATE cluster_nodes SET changed_at = changed_at - $1`,
		} {
			if _, err := tx.Exec(ctx, q, by.Microseconds()); err != nil {
				return err
			}
		}
		return nil
	})
}

// InsertNode puts a node of Outrigger's own into the database.
func InsertNode(ctx context.Context, d *db.DB, id string, state cluster.State) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO cluster_nodes (id, state, address, version, started_at, beat_at, changed_at)
			VALUES ($1, $2, '', '', $3, $3, $3)`, id, state, db.Micros(tx.Now()))
		return err
	})
}

// CountRows counts the rows of a table.
func CountRows(ctx context.Context, d *db.DB, table string) (n int, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error { return tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+table).Scan(&n) })
	return n, err
}

// Nodes are a cluster as the tests say it is.
type Nodes struct {
	List []cluster.Node
	Did  []string
	Err  error
}

func (n *Nodes) Nodes(context.Context) ([]cluster.Node, error) { return n.List, n.Err }

func (n *Nodes) Drain(_ context.Context, id string) error {
	n.Did = append(n.Did, "drain "+id)
	return n.Err
}

func (n *Nodes) Resume(_ context.Context, id string) error {
	n.Did = append(n.Did, "resume "+id)
	return n.Err
}

// Source returns what it holds.
type Source struct {
	Now mailqueue.Sizes
	Err error
}

func (s *Source) Sizes(context.Context) (mailqueue.Sizes, error) { return s.Now, s.Err }
