package cluster

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/secret"
)

// leap is by how much the count of heartbeats goes up where a database was restored:
// above what any node noted of the state that is gone, were it for 600 years.
const leap = 1 << 32

// identify returns the identity of the database, and makes it where it has none.
func (c *Cluster) identify(ctx context.Context, tx *db.Tx, nodes []Node) (identity string, err error) {
	const (
		what = "reading the identity of the database"
		q    = `SELECT identity FROM cluster_database WHERE id = 1`
	)
	found, err := tx.Find(ctx, what, []any{&identity}, q)
	if err != nil || found {
		return identity, err
	}
	var begun time.Time
	if len(nodes) == 0 {
		begun = tx.Now()
	}
	// Another node may have been quicker.
	if err := tx.Do(ctx, what, `INSERT INTO cluster_database (id, identity, begun_at, begun_in) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO NOTHING`, secret.Random(16), db.Micros(begun), c.o.Place); err != nil {
		return "", err
	}
	err = tx.Get(ctx, what, []any{&identity}, q)
	return identity, err
}

// Leap puts the count of heartbeats above what any node noted of the state that this
// one came in the place of, so that each of them does not find the restore anew.
func Leap(ctx context.Context, tx *db.Tx) error { return leapOver(ctx, tx, 0) }

func leapOver(ctx context.Context, tx *db.Tx, noted int64) error {
	return tx.Do(ctx, "counting heartbeats after a restore", `UPDATE cluster_nodes SET beats = $1 +
		(SELECT CASE WHEN MAX(beats) > $2 THEN MAX(beats) ELSE $2 END FROM cluster_nodes)`, int64(leap), noted)
}

// recognise holds the database, before this node's heartbeat in tx, against what this
// node saw last. It gives what to note of it after that heartbeat.
func (c *Cluster) recognise(ctx context.Context, tx *db.Tx, joining bool) (note, error) {
	before, err := list(ctx, tx)
	if err != nil {
		return note{}, err
	}
	identity, err := c.identify(ctx, tx, before)
	if err != nil {
		return note{}, err
	}
	found := c.noted.judge(identity, before, c.o.NodeID)
	if found != nil && found.Found != Earlier && joining && c.othersLive(before, tx.Now()) {
		found = nil // it joins those that send already: its data folder is of another place
	}
	if found != nil {
		if err := leapOver(ctx, tx, c.noted.Beats); err != nil {
			return note{}, err
		}
		if before, err = list(ctx, tx); err != nil {
			return note{}, err
		}
	}
	if c.o.Beaten != nil {
		if err := c.o.Beaten(ctx, tx, found); err != nil {
			return note{}, err
		}
	}
	// The beats before this heartbeat: one commit may be lost where a standby takes
	// over from a PostgreSQL server.
	return note{Database: identity, Node: c.o.NodeID, Beats: beatsOf(before, c.o.NodeID), SeenAt: tx.Now()}, nil
}

// othersLive reports whether another node works on the database.
func (c *Cluster) othersLive(nodes []Node, now time.Time) bool {
	for _, n := range nodes {
		if c.o.Clustered && n.ID != c.o.NodeID && n.State != Offline && now.Sub(n.BeatAt) < c.silence {
			return true
		}
	}
	return false
}

// keep notes what a heartbeat saw. The caller has the turn.
func (c *Cluster) keep(n note) {
	c.noted = n
	err := n.write(c.o.Dir)
	if err != nil && !c.unnoted {
		c.o.Log.Warn("the heartbeat could not be noted in the data folder: an earlier state of the database might not be noticed", "error", err)
	}
	c.unnoted = err != nil
}

// Begun says when and where this database was begun as a new one; the zero time
// where it was older when nodes began to note that.
func (c *Cluster) Begun(ctx context.Context) (at time.Time, place string, err error) {
	err = c.db.Get(ctx, "reading when the database was begun", []any{db.At(&at), &place},
		`SELECT begun_at, begun_in FROM cluster_database WHERE id = 1`)
	return at, place, err
}
