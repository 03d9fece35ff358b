package mailqueue

import (
	"context"
	"encoding/xml"
	"time"

	"outrigger/internal/cluster"
)

// StatusPath is where a server of the mail queue API gives the sizes of its
// node.
const StatusPath = "/rest/mailqueue/1.0/status"

// MailQueue is the sizes of one node's queue as the API writes them.
type MailQueue struct {
	XMLName   xml.Name `json:"-" xml:"mailQueue"`
	Size      int64    `json:"size" xml:"size" min:"0" doc:"Messages in the mail queue."`
	ErrorSize int64    `json:"errorSize" xml:"errorSize" min:"0" doc:"Messages in the mail error queue."`
}

// Node is one node as the API writes it.
type Node struct {
	NodeID      string        `json:"nodeId" xml:"nodeId" doc:"The node's id."`
	NodeState   cluster.State `json:"nodeState" xml:"nodeState" enum:"ACTIVE,PASSIVE,ACTIVATING,PASSIVATING,OFFLINE"`
	IsClustered bool          `json:"isClustered" xml:"isClustered" doc:"Whether the node is part of a cluster."`
	MailQueue   MailQueue     `json:"mailQueue" xml:"mailQueue" doc:"Its sizes, at most 60 s old."`
}

// MemberWords are those of the members that need more than a few.
func (Node) MemberWords() map[string]string {
	return map[string]string{
		"nodeState": "OFFLINE also where the source of its sizes has given none for 60 s: nothing can be said of its queue then.",
	}
}

// ClusterMailQueue is the queues of all nodes, ordered by node; none where
// there is no cluster.
type ClusterMailQueue struct {
	XMLName xml.Name `json:"-" xml:"clusterMailQueue"`
	Nodes   []Node   `json:"nodes" xml:"node" doc:"Every node, ordered by nodeId; none where there is no cluster."`
}

func MailQueueOf(s Sizes) MailQueue { return MailQueue{Size: s.Size, ErrorSize: s.ErrorSize} }

// Reading is what is known of a node's sizes.
type Reading struct {
	Sizes               // the last that the source gave; 0 and 0 until then
	Source    string    // relay, postfix, jmx or remote; "" until its process has said so
	At        time.Time // when they were read; zero: never
	Error     string    // why the source gives none now
	FailingAt time.Time // since when
}

// NodeStatus is a node with all that is known of its queue.
type NodeStatus struct {
	cluster.Node      // one that is watched has no address, version and start
	Watched      bool // only watched: Outrigger does not run there
	Self         bool // the node that answers
	Reading
	Now   time.Time   // when all this was read, by the clock of its times
	Queue *RelayQueue // its messages in the database; nil: it has none there
}

// maxAge is how old sizes may be in an answer of the API, which promises 60 s.
const maxAge = 60 * time.Second

// Present is the node's state and sizes where their age is not told: a node
// whose source has given none for 60 s is OFFLINE there, since nothing can be
// said of its queue.
func (s *NodeStatus) Present() (cluster.State, Sizes) {
	last := s.At
	if last.IsZero() {
		last = s.FailingAt
	}
	if !last.IsZero() && s.Now.Sub(last) > maxAge {
		return cluster.Offline, Sizes{}
	}
	return s.State, s.Sizes
}

// Oldest is when the oldest waiting message was queued; zero when none waits or
// it is not known.
func (s *NodeStatus) Oldest() time.Time {
	if s.Queue == nil {
		return time.Time{}
	}
	return s.Queue.Oldest
}

// Age is how old the sizes are; false when there are none.
func (s *NodeStatus) Age() (time.Duration, bool) {
	return max(s.Now.Sub(s.At), 0), !s.At.IsZero()
}

// Cluster is what the wing asks of the nodes of Outrigger's own.
type Cluster interface {
	Nodes(ctx context.Context) ([]cluster.Node, error)
	Drain(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
}
