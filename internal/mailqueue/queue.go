// Package mailqueue is the wing that answers how many messages wait in the
// outgoing mail queue and in its error queue, per node. It has the words and
// the decisions: sizes, node states, verdicts, filters, who may do what. Its SQL
// is in store, its REST API in api, its part of the console in pages.
//
// The numbers come from a Source: Outrigger's own relay, the local Postfix, the
// host application's JMX figures, or another server of the same API, each in
// a package below this one.
package mailqueue

import (
	"context"
	"time"
)

// Sizes are the two numbers of a mail queue.
type Sizes struct {
	Size      int64 `json:"size" doc:"Messages in the mail queue."`
	ErrorSize int64 `json:"errorSize" doc:"Messages in the mail error queue."`
}

// Source is where the numbers of one node come from.
type Source interface {
	// Sizes reads them now. A source that does not answer is
	// fault.Unavailable with a message that names it: never old numbers.
	Sizes(ctx context.Context) (Sizes, error)
}

// SourceRelay is the name of the source that lies in the database, and is
// counted there instead of being sampled.
const SourceRelay = "relay"

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
