// Package admin is the queues of all nodes, and what administrators do to nodes: the
// packages api and pages show it.
package admin

import (
	"context"
	"slices"
	"strings"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/store"
)

// Service is the queues of all nodes: the REST API, the console and the metrics
// read from it.
type Service struct {
	NodeID    string           // this node
	Clustered bool             // whether Outrigger has other nodes
	Own       mailqueue.Source // this node's source
	Source    string           // what kind it is: SourceRelay, postfix, jmx or remote

	Cluster mailqueue.Cluster
	Store   *store.Store
	Relay   mailqueue.Relay
}

// Sizes asks this node's source now.
func (svc *Service) Sizes(ctx context.Context) (mailqueue.MailQueue, error) {
	sizes, err := svc.Own.Sizes(ctx)
	return mailqueue.MailQueueOf(sizes), err
}

// ClusterMailQueue returns the queues of all nodes as the API writes them. Not
// clustered, there are none but those that are only watched.
func (svc *Service) ClusterMailQueue(ctx context.Context) (mailqueue.ClusterMailQueue, error) {
	list, err := svc.nodeStatuses(ctx, svc.Clustered)
	if err != nil {
		return mailqueue.ClusterMailQueue{}, err
	}
	queues := mailqueue.ClusterMailQueue{Nodes: make([]mailqueue.Node, len(list))}
	for i := range list {
		state, sizes := list[i].Present()
		queues.Nodes[i] = mailqueue.Node{NodeID: list[i].ID, NodeState: state, IsClustered: true, MailQueue: mailqueue.MailQueueOf(sizes)}
	}
	return queues, nil
}

// NodeStatuses lists every node with all that is known of its queue, ordered by
// node.
func (svc *Service) NodeStatuses(ctx context.Context) ([]mailqueue.NodeStatus, error) {
	return svc.nodeStatuses(ctx, true)
}

func (svc *Service) nodeStatuses(ctx context.Context, own bool) ([]mailqueue.NodeStatus, error) {
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
			list = slices.DeleteFunc(list, func(w mailqueue.NodeStatus) bool { return w.Watched && w.ID == n.ID })
			list = append(list, svc.nodeStatus(n, read, queues[n.ID]))
		}
	}
	slices.SortFunc(list, func(x, y mailqueue.NodeStatus) int { return strings.Compare(x.ID, y.ID) })
	return list, nil
}

// queues are the queues in the database by node.
func (svc *Service) queues(ctx context.Context) (map[string]*mailqueue.RelayQueue, error) {
	list, err := svc.Relay.Queues(ctx)
	if err != nil {
		return nil, err
	}
	queues := make(map[string]*mailqueue.RelayQueue, len(list))
	for i := range list {
		queues[list[i].NodeID] = &list[i]
	}
	return queues, nil
}

// nodeStatus is a node of Outrigger's own. Where its source is the relay, its
// sizes are those of its messages in the database, whatever its state.
func (svc *Service) nodeStatus(n cluster.Node, read mailqueue.Readings, queue *mailqueue.RelayQueue) mailqueue.NodeStatus {
	s := mailqueue.NodeStatus{
		Node: n, Self: n.ID == svc.NodeID, Reading: read.Own[n.ID], Now: read.Now, Queue: queue,
	}
	if s.Self && s.Source == "" {
		s.Source = svc.Source
	}
	if s.Source == "" && queue != nil {
		s.Source = mailqueue.SourceRelay
	}
	if s.Source == mailqueue.SourceRelay && (queue != nil || !s.At.IsZero()) {
		s.Sizes, s.At, s.Error, s.FailingAt = mailqueue.Sizes{}, read.Now, "", time.Time{}
		if queue != nil {
			s.Sizes = queue.Sizes
		}
	}
	return s
}

// VerdictSince is since when a node's queue has needed an administrator, as Judge
// says: as far as is known, else when its sizes were read.
func (svc *Service) VerdictSince(ctx context.Context, s *mailqueue.NodeStatus) (time.Time, error) {
	least := mailqueue.Sizes{Size: mailqueue.AttentionFrom}
	known := s.Oldest()
	if s.ErrorSize > 0 {
		least, known = mailqueue.Sizes{ErrorSize: 1}, time.Time{}
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
