package cluster

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// Nodes lists all nodes by id, as the database has them now.
func (c *Cluster) Nodes(ctx context.Context) ([]Node, error) {
	return db.Read(ctx, c.db, func(tx *db.Tx) ([]Node, error) { return list(ctx, tx) })
}

func list(ctx context.Context, tx *db.Tx) ([]Node, error) {
	return db.List(ctx, tx, "listing the nodes", func(row db.Row) (n Node, err error) {
		err = row.Scan(&n.ID, &n.State, &n.Address, &n.Version, db.At(&n.StartedAt), db.At(&n.BeatAt), db.At(&n.ChangedAt), &n.beats)
		return n, err
	}, `SELECT id, state, address, version, started_at, beat_at, changed_at, beats FROM cluster_nodes ORDER BY id`)
}

// register writes this node's row for a process that begins.
func (c *Cluster) register(ctx context.Context) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	var now time.Time
	var nodes []Node
	var seen note
	err := c.db.Write(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now()
		if seen, err = c.recognise(ctx, tx, true); err != nil {
			return err
		}
		if err := noteGap(ctx, tx); err != nil {
			return err
		}
		if err := c.insert(ctx, tx); err != nil {
			return err
		}
		if !c.o.Clustered {
			if err := c.markOffline(ctx, tx, now); err != nil {
				return err
			}
		}
		nodes, err = list(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	c.beating, c.lastBeat = now, now
	c.keep(seen)
	c.note(nil)
	c.observe(nodes)
	return nil
}

// nextBeat is one more than any node has counted.
const nextBeat = `(SELECT COALESCE(MAX(beats), 0) + 1 FROM cluster_nodes)`

func (c *Cluster) insert(ctx context.Context, tx *db.Tx) error {
	state, _ := next(Offline, begins)
	return tx.Do(ctx, "registering a node", `INSERT INTO cluster_nodes (id, state, address, version, started_at, beat_at, changed_at, beats)
		VALUES ($1, $2, $3, $4, $5, $5, $5, `+nextBeat+`)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, address = excluded.address, version = excluded.version,
			started_at = excluded.started_at, beat_at = excluded.beat_at, changed_at = excluded.changed_at,
			beats = excluded.beats`,
		c.o.NodeID, state, c.o.Address, c.o.Version, db.Micros(tx.Now()))
}

// markOffline marks the other nodes that were last heard of before a time.
func (c *Cluster) markOffline(ctx context.Context, tx *db.Tx, heardBefore time.Time) error {
	return tx.Do(ctx, "marking nodes offline",
		`UPDATE cluster_nodes SET state = $1, changed_at = $2 WHERE id <> $3 AND state <> $1 AND beat_at <= $4`,
		Offline, db.Micros(tx.Now()), c.o.NodeID, db.Micros(heardBefore))
}

// Result is what one heartbeat did.
type Result struct {
	At       time.Time // by the database's clock
	Watching bool      // whether the others were judged
	Changed  []Node    // nodes whose state is not what it was at the last one
}

// runOnce is one heartbeat: it sees that the schema is still ours, says that this
// node lives, takes the step that its state is due, and marks the nodes that are
// not heard of.
func (c *Cluster) runOnce(ctx context.Context) (Result, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.db.CheckRelease(ctx); err != nil {
		return Result{}, err
	}
	// A part that knows that this node is drained accepts nothing more, so empty
	// is asked only after an earlier heartbeat reported the drain.
	empty := c.Self().State == Passivating && c.o.InFlight() == 0
	var r Result
	var nodes []Node
	var seen note
	beating := c.beating
	err := c.db.Write(ctx, func(tx *db.Tx) (err error) {
		r.At, beating = tx.Now(), c.beating
		if r.At.Sub(c.lastBeat) >= c.silence {
			beating = r.At // this node was away itself, or the database was
		}
		r.Watching = r.At.Sub(beating) >= c.silence
		if seen, err = c.recognise(ctx, tx, false); err != nil {
			return err
		}
		if err := c.say(ctx, tx); err != nil {
			return err
		}
		if r.Watching {
			if err := c.markOffline(ctx, tx, r.At.Add(-c.silence)); err != nil {
				return err
			}
		}
		if nodes, err = list(ctx, tx); err != nil {
			return err
		}
		return c.step(ctx, tx, nodes, empty)
	})
	if err != nil {
		return Result{}, err
	}
	c.beating, c.lastBeat = beating, r.At
	c.keep(seen)
	r.Changed = c.observe(nodes)
	return r, nil
}

// say writes the heartbeat. Where an administrator has removed the row while
// the node was OFFLINE, it comes back.
func (c *Cluster) say(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, `UPDATE cluster_nodes SET beat_at = $2, beats = `+nextBeat+` WHERE id = $1`, c.o.NodeID, db.Micros(tx.Now()))
	if err == nil && n == 0 {
		err = c.insert(ctx, tx)
	}
	return err
}

// step brings this node's state to where its heartbeat leads. Its row is
// locked by say.
func (c *Cluster) step(ctx context.Context, tx *db.Tx, nodes []Node, empty bool) error {
	for i := range nodes {
		n := &nodes[i]
		if n.ID != c.o.NodeID {
			continue
		}
		to, _ := next(n.State, beats)
		if c.isReady {
			to, _ = next(to, ready)
		}
		if empty && to == Passivating {
			to, _ = next(to, emptied)
		}
		if to != n.State {
			n.State, n.ChangedAt = to, tx.Now()
			return tx.Do(ctx, "changing a node's state", `UPDATE cluster_nodes SET state = $2, changed_at = $3 WHERE id = $1`,
				n.ID, to, db.Micros(tx.Now()))
		}
	}
	return nil
}

// apply changes the state of a node by an event.
func (c *Cluster) apply(ctx context.Context, id string, e event) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	var nodes []Node
	var seen note
	err := c.db.Write(ctx, func(tx *db.Tx) error {
		from, err := lockState(ctx, tx, id)
		if err != nil {
			return err
		}
		to, allowed := next(from, e)
		if !allowed {
			return refusal(id, from, e)
		}
		if to != from {
			// An orderly stop is a sign of life too, the last one.
			_, err = tx.Exec(ctx, `UPDATE cluster_nodes SET state = $2, changed_at = $3, beat_at = CASE WHEN id = $4 THEN $3 ELSE beat_at END
				WHERE id = $1`,
				id, to, db.Micros(tx.Now()), c.o.NodeID)
			if err != nil {
				return err
			}
		}
		if err := record(ctx, tx, id, e, from, to); err != nil {
			return err
		}
		if e == stops { // the last heartbeat
			if seen, err = c.recognise(ctx, tx, false); err != nil {
				return err
			}
			if err := c.say(ctx, tx); err != nil {
				return err
			}
		}
		nodes, err = list(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	c.observe(nodes)
	if e == stops {
		seen.Beats = beatsOf(nodes, id) // of the last one itself: the database has all of it when it is dumped now
		c.keep(seen)
	}
	if id == c.o.NodeID {
		c.wake.Set()
	}
	return nil
}

// lockState reads the state of a node and keeps others from changing it until
// the transaction ends.
func lockState(ctx context.Context, tx *db.Tx, id string) (state State, err error) {
	err = tx.FindOne(ctx, "reading the state of a node", fault.New(fault.NotFound, "There is no node %s.", id), []any{&state},
		`SELECT state FROM cluster_nodes WHERE id = $1`+tx.ForUpdate(), id)
	return state, err
}

func refusal(id string, from State, e event) error {
	if e == drained {
		return fault.New(fault.Conflict, "The node %s is %s: only an %s node can be drained.", id, from, Active)
	}
	return fault.New(fault.Conflict, "The node %s is %s: only a %s or %s node can be resumed.", id, from, Passivating, Passive)
}
