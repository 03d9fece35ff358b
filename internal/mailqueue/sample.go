package mailqueue

import (
	"context"
	"time"
)

// Sample is the sizes of a queue at a time.
type Sample struct {
	At time.Time
	Sizes
}

// Readings are what is known of the queues of all nodes.
type Readings struct {
	Now     time.Time          // when they were read, by the database's clock
	Own     map[string]Reading // of Outrigger's own nodes
	Watched []NodeStatus       // the nodes that are only watched, ordered by node
}

// WatchedNode is a node that is only watched.
type WatchedNode struct {
	ID     string
	Source string
}

// WatchedSilence is for how long the source of a node that is only watched may
// give nothing before the node is OFFLINE: as long as a node of Outrigger's own
// may be silent.
const WatchedSilence = 20 * time.Second

// Store keeps what is known of each node's queue.
type Store interface {
	Readings(ctx context.Context) (Readings, error)
	// History returns the course of each node's sizes since a time: for every step
	// in which there are samples, the highest of each size, at the step's start.
	History(ctx context.Context, since time.Time, step time.Duration) (map[string][]Sample, error)
	// AboveSince returns since when a node's queue has had at least so many messages
	// in all its samples; zero where the newest has fewer.
	AboveSince(ctx context.Context, nodeID string, least Sizes) (time.Time, error)
	// Forget takes a node off the list, with what is known of its queue, and
	// records who did. NotFound: there is none; Conflict: it is not OFFLINE.
	Forget(ctx context.Context, nodeID string) error
}
