package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/store"
	"outrigger/internal/work"
)

const (
	// careEvery is how often the nodes that are gone are looked after; it adds
	// to the time after which their messages are handed over.
	careEvery = 5 * time.Second
	// careTime is how long a round may hold its lease: a handover goes by
	// slices, and the next round goes on.
	careTime = 10 * time.Second

	reaperLease = "mailqueue/node-reaper"
)

// NodeReaper hands the messages of nodes that have been OFFLINE for too long to
// the node that it runs on, and notes which of them still have some. One node
// of a cluster does so for all.
type NodeReaper struct {
	NodeID  string
	After   time.Duration // OFFLINE for this long: mail.handover_after
	Cluster mailqueue.Cluster
	Relay   mailqueue.Relay
	Store   *store.Store
	Leases  *db.Leases
	Now     func(context.Context) (time.Time, error) // the database's clock
	Active  func() bool
	Log     *slog.Logger

	work.PeriodicWorker // Stop lets the slice that is under way end

	failing bool // the last round failed, which was logged
}

// Cared is what one round did.
type Cared struct {
	Elsewhere bool             // another node is at it, or this one is drained
	WithMail  []string         // nodes that are OFFLINE and have messages
	Moved     map[string]int64 // messages that were handed over, by the node that had them
}

// Start begins the rounds.
func (c *NodeReaper) Start(ctx context.Context) {
	c.PeriodicWorker.Start(ctx, careEvery, c.round)
}

// round runs a round and logs what came of it.
func (c *NodeReaper) round(ctx context.Context) time.Duration {
	did, err := c.runOnce(ctx)
	if err != nil && !c.failing && ctx.Err() == nil {
		c.Log.Warn("the messages of nodes that are gone could not be looked after; will try on", "error", err)
	}
	c.failing = err != nil
	for node, n := range did.Moved {
		c.Log.Info("took the messages of a node that is gone", "node", node, "messages", n)
	}
	return careEvery
}

// runOnce runs one round. A node whose messages cannot be had does not keep the
// others from theirs.
func (c *NodeReaper) runOnce(ctx context.Context) (Cared, error) {
	did := Cared{Moved: map[string]int64{}}
	gone, err := c.gone(ctx)
	if err != nil || len(gone) == 0 {
		return did, err
	}
	if !c.Active() {
		did.Elsewhere = true
		return did, nil
	}
	lease, err := c.Leases.Acquire(ctx, reaperLease)
	if err != nil {
		return did, err
	}
	if lease == nil {
		did.Elsewhere = true
		return did, nil
	}
	defer work.Release(ctx, c.Leases, lease, c.Log, "a lease", "lease", lease.Name())
	for _, n := range gone {
		did.WithMail = append(did.WithMail, n.ID)
	}
	if err := c.Store.NoteMail(ctx, lease, did.WithMail); err != nil {
		return did, err
	}
	now, err := c.Now(ctx)
	if err != nil {
		return did, err
	}
	var failed []error
	for _, n := range gone {
		if now.Sub(n.ChangedAt) < c.After || !lease.Good(careTime) {
			continue
		}
		moved, err := c.Relay.Handover(ctx, n.ID, c.NodeID)
		if moved > 0 {
			did.Moved[n.ID] = moved
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", n.ID, err))
		}
	}
	return did, errors.Join(failed...)
}

// gone returns the nodes that are OFFLINE and have messages.
func (c *NodeReaper) gone(ctx context.Context) ([]cluster.Node, error) {
	nodes, err := c.Cluster.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	var offline []cluster.Node
	for _, n := range nodes {
		if n.State == cluster.Offline && n.ID != c.NodeID {
			offline = append(offline, n)
		}
	}
	if len(offline) == 0 {
		return nil, nil // as nearly always
	}
	queues, err := c.Relay.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var with []cluster.Node
	for _, n := range offline {
		if slices.ContainsFunc(queues, func(q mailqueue.RelayQueue) bool { return q.NodeID == n.ID && q.Size+q.ErrorSize > 0 }) {
			with = append(with, n)
		}
	}
	return with, nil
}
