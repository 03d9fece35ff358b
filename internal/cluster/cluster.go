// Package cluster is this node and the others that share its database: who
// there is, in which state, and when no node listened.
//
// Every node writes a heartbeat into the database, and watches the others'. A
// node drained by an administrator works off what is in flight and then holds
// nothing; one whose heartbeat stays away is OFFLINE. All times are the
// database's clock.
package cluster

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/work"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of the nodes.
var Migrations = db.Migrations{Name: "cluster", FS: migrations}

const (
	// beatEvery is how often a node says that it lives.
	beatEvery = 5 * time.Second
	// silence is how long a node may not be heard of before it counts as
	// OFFLINE: three heartbeats may be lost, and it is as long as a lease.
	silence = 20 * time.Second
	// lateBeats is after how many heartbeats that should have come a node is not
	// ready: one may be slow.
	lateBeats = 2
	// drainEvery is how often a node that is being drained looks whether it is
	// empty.
	drainEvery = 250 * time.Millisecond
)

// Node is one node as the database knows it.
type Node struct {
	ID        string
	State     State
	Address   string // where it is reached
	Version   string
	StartedAt time.Time
	BeatAt    time.Time // last sign of life
	ChangedAt time.Time // when the state changed last

	beats int64 // a count of heartbeats, above that of all other nodes at its last one
}

// Options describe this node.
type Options struct {
	NodeID  string
	Address string
	Version string

	// Clustered says that there may be other nodes. Where it is false, nodes
	// that the database still lists are OFFLINE from the start: a node that
	// came back under another name waits for no other node.
	Clustered bool

	// InFlight counts what this node works on and holds leases for; a drained
	// node is PASSIVE once it is 0. nil is always 0.
	InFlight func() int

	Dir   string // the data folder, where the last heartbeat is noted; "": it is not
	Place string // where the database is, in words, for the note that a new one was begun

	// Beaten is called in the transaction of each heartbeat, the one that registers
	// the node included. found says how the database is not the one that this node
	// saw last; nil: it is.
	Beaten func(ctx context.Context, tx *db.Tx, found *Finding) error

	Log *slog.Logger // nil: not logged
}

// Cluster is this node's place among the nodes.
type Cluster struct {
	o  Options
	db *db.DB

	beat, silence, drain time.Duration // the constants; tests shorten them

	turn     sync.Mutex // one heartbeat or change of state at a time, its callbacks included
	seen     map[string]State
	isReady  bool      // Activate was called: a node that is heard of again is ACTIVE at once
	beating  time.Time // since when the heartbeats follow one another; zero: they do not
	lastBeat time.Time
	onChange []func(Node)
	noted    note // the last heartbeat, as in the data folder
	unnoted  bool // the last one could not be written there

	mu     sync.Mutex
	self   Node
	wrote  time.Time // when the last heartbeat was written, by this process's clock
	failed error     // why the last one was not

	counting  sync.Mutex
	counted   struct{ self, active int } // nodes, as Members says it
	countedAt time.Time                  // by this process's clock; zero: not counted

	wake    work.Signal
	stop    context.CancelFunc
	through chan struct{}
}

// New makes the place of one node. Nothing happens before Start.
func New(d *db.DB, o Options) *Cluster {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.InFlight == nil {
		o.InFlight = func() int { return 0 }
	}
	return &Cluster{
		o: o, db: d, beat: beatEvery, silence: silence, drain: drainEvery,
		seen: make(map[string]State), wake: work.NewSignal(),
	}
}

// OnChange has f called when the state of a node changes, this one's or, at
// this node's next heartbeat, another's. Call it before Start. f must not call
// Activate, Drain, Resume or Stop.
func (c *Cluster) OnChange(f func(Node)) { c.onChange = append(c.onChange, f) }

// Start registers this node as ACTIVATING and begins its heartbeat. A drain
// of before is over.
func (c *Cluster) Start(ctx context.Context) error {
	if c.o.NodeID == "" {
		return errors.New("cluster: the node has no id")
	}
	noted, err := readNote(c.o.Dir)
	if err != nil {
		return err
	}
	c.noted = noted
	if err := c.register(ctx); err != nil {
		return fmt.Errorf("registering this node: %w", err)
	}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop, c.through = stop, make(chan struct{})
	go c.loop(beating)
	return nil
}

// Activate says that this node is ready: ACTIVATING becomes ACTIVE.
func (c *Cluster) Activate(ctx context.Context) error {
	c.turn.Lock()
	c.isReady = true
	c.turn.Unlock()
	return c.apply(ctx, c.o.NodeID, ready)
}

// Drain has a node work off what is in flight and take no more. It must be
// ACTIVE: else fault.Conflict; fault.NotFound when there is none of that id. A
// drain is over when its process starts again.
func (c *Cluster) Drain(ctx context.Context, id string) error { return c.apply(ctx, id, drained) }

// Resume makes a drained node ACTIVE again; errors are those of Drain.
func (c *Cluster) Resume(ctx context.Context, id string) error { return c.apply(ctx, id, resumed) }

// Stop ends the heartbeat and marks this node OFFLINE.
func (c *Cluster) Stop(ctx context.Context) error {
	if c.stop == nil {
		return nil
	}
	c.stop()
	<-c.through
	return c.apply(ctx, c.o.NodeID, stops)
}

// Self is this node as its last heartbeat or change saw it.
func (c *Cluster) Self() Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.self
}

// Ready is nil while this node's heartbeats are written: the database takes writes,
// and its schema is still ours. The error is a sentence for probes.
func (c *Cluster) Ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if silent := time.Since(c.wrote); silent > lateBeats*c.beat {
		return fault.New(fault.Unavailable, "The database has not accepted a write for %s.", silent.Truncate(time.Second))
	}
	return nil
}

// WrittenAt is when this node's last heartbeat was written.
func (c *Cluster) WrittenAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote
}

// note keeps what came of a heartbeat.
func (c *Cluster) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err == nil {
		c.wrote = time.Now()
	}
}

// loop beats until ctx ends, and a moment after another write has failed: whether
// this node is ready shows within 2 s. A heartbeat that fails is said once.
func (c *Cluster) loop(ctx context.Context) {
	defer close(c.through)
	failing := false
	for {
		wait, trouble := c.beat, c.db.Trouble()
		switch {
		case failing: // it is known, and its end is to be found soon
			wait, trouble = c.beat/5, nil
		case c.Self().State == Passivating:
			wait = min(wait, c.drain)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-trouble:
			if work.Sleep(ctx, c.beat/5) != nil { // for many writes that fail one by one
				return
			}
		case <-time.After(wait):
		}
		_, err := c.runOnce(ctx)
		if err == nil {
			err = c.db.Room()
		}
		if ctx.Err() != nil {
			return
		}
		c.note(err)
		switch {
		case err != nil && !failing:
			c.o.Log.Warn("this node's heartbeat could not be written; will try on", "node", c.o.NodeID, "error", err)
		case err == nil && failing:
			c.o.Log.Info("this node's heartbeat is written again", "node", c.o.NodeID)
		}
		failing = err != nil
	}
}

// observe notes what a heartbeat or a change of state found and tells of every
// state that is new. The caller has the turn.
func (c *Cluster) observe(nodes []Node) (changed []Node) {
	for _, n := range nodes {
		if n.ID == c.o.NodeID {
			c.mu.Lock()
			c.self = n
			c.mu.Unlock()
		}
		if was, known := c.seen[n.ID]; !known || was != n.State {
			c.seen[n.ID] = n.State
			changed = append(changed, n)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	c.recount()
	for _, n := range changed {
		for _, f := range c.onChange {
			f(n)
		}
	}
	return changed
}
