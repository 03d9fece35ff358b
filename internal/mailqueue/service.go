package mailqueue

import (
	"context"
	"slices"
	"strings"
	"time"

	"outrigger/internal/cluster"
)

// SourceRelay is the name of the source that lies in the database, and is
// counted there instead of being sampled.
const SourceRelay = "relay"

// Cluster is what the wing asks of the nodes of Outrigger's own.
type Cluster interface {
	Nodes(ctx context.Context) ([]cluster.Node, error)
	Drain(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
}

// Service is the queues of all nodes: the REST API, the console and the metrics
// read from it.
type Service struct {
	NodeID    string // this node
	Clustered bool   // whether Outrigger has other nodes
	Own       Source // this node's source
	Source    string // what kind it is: SourceRelay, postfix, jmx or remote

	Cluster Cluster
	Store   Store
	Relay   Relay
}

// Sizes asks this node's source now.
func (svc *Service) Sizes(ctx context.Context) (MailQueue, error) {
	sizes, err := svc.Own.Sizes(ctx)
	return mailQueueOf(sizes), err
}

// ClusterMailQueue returns the queues of all nodes as the API writes them. Not
// clustered, there are none but those that are only watched.
func (svc *Service) ClusterMailQueue(ctx context.Context) (ClusterMailQueue, error) {
	list, err := svc.nodeStatuses(ctx, svc.Clustered)
	if err != nil {
		return ClusterMailQueue{}, err
	}
	queues := ClusterMailQueue{Nodes: make([]Node, len(list))}
	for i := range list {
		state, sizes := list[i].present()
		queues.Nodes[i] = Node{NodeID: list[i].ID, NodeState: state, IsClustered: true, MailQueue: mailQueueOf(sizes)}
	}
	return queues, nil
}

// NodeStatuses lists every node with all that is known of its queue, ordered by
// node.
func (svc *Service) NodeStatuses(ctx context.Context) ([]NodeStatus, error) {
	return svc.nodeStatuses(ctx, true)
}

func (svc *Service) nodeStatuses(ctx context.Context, own bool) ([]NodeStatus, error) {
	read, err := svc.Store.Readings(ctx)
	if err != nil {
		return nil, err
	}
	list := read.Watched
	if own {
		nodes, err := svc.Cluster.Nodes(ctx)
		if err != nil {
			return nil, err
		}
		queues, err := svc.queues(ctx)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			// A node of Outrigger's own goes before one that is watched.
			list = slices.DeleteFunc(list, func(w NodeStatus) bool { return w.Watched && w.ID == n.ID })
			list = append(list, svc.nodeStatus(n, read, queues[n.ID]))
		}
	}
	slices.SortFunc(list, func(x, y NodeStatus) int { return strings.Compare(x.ID, y.ID) })
	return list, nil
}

// queues are the queues in the database by node.
func (svc *Service) queues(ctx context.Context) (map[string]*Queue, error) {
	list, err := svc.Relay.Queues(ctx)
	if err != nil {
		return nil, err
	}
	queues := make(map[string]*Queue, len(list))
	for i := range list {
		queues[list[i].NodeID] = &list[i]
	}
	return queues, nil
}

// nodeStatus is a node of Outrigger's own. Where its source is the relay, its
// sizes are those of its messages in the database, whatever its state.
func (svc *Service) nodeStatus(n cluster.Node, read Readings, queue *Queue) NodeStatus {
	s := NodeStatus{
		ID: n.ID, State: n.State, Self: n.ID == svc.NodeID, Address: n.Address, Version: n.Version,
		StartedAt: n.StartedAt, BeatAt: n.BeatAt, ChangedAt: n.ChangedAt,
		Reading: read.Own[n.ID], Now: read.Now, Queue: queue,
	}
	if s.Self && s.Source == "" {
		s.Source = svc.Source
	}
	if s.Source == "" && queue != nil {
		s.Source = SourceRelay
	}
	if s.Source == SourceRelay && (queue != nil || !s.At.IsZero()) {
		s.Sizes, s.At, s.Error, s.FailingAt = Sizes{}, read.Now, "", time.Time{}
		if queue != nil {
			s.Sizes = queue.Sizes
		}
	}
	return s
}

// VerdictSince is since when a node's queue has needed an administrator, as Judge
// says: as far as is known, else when its sizes were read.
func (svc *Service) VerdictSince(ctx context.Context, s *NodeStatus) (time.Time, error) {
	least := Sizes{Size: AttentionFrom}
	known := s.Oldest()
	if s.ErrorSize > 0 {
		least, known = Sizes{ErrorSize: 1}, time.Time{}
		if s.Queue != nil {
			known = s.Queue.OldestError
		}
	}
	if !known.IsZero() {
		return known, nil
	}
	since, err := svc.Store.AboveSince(ctx, s.ID, least)
	if since.IsZero() {
		since = s.At
	}
	return since, err
}

// History returns the course of each node's sizes since a time: for every step
// in which there are samples, the highest of each size, at the step's start.
func (svc *Service) History(ctx context.Context, since time.Time, step time.Duration) (map[string][]Sample, error) {
	return svc.Store.History(ctx, since, step)
}
