package mailqueue

import "time"

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
