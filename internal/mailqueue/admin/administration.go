package admin

import (
	"cmp"
	"context"
	"slices"

	"outrigger/internal/cluster"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
)

// What administrators do to nodes, each with its permission, SYS_ADMIN: the
// REST API and the console both go through it.

func (svc *Service) requireSysAdmin(ctx context.Context) error {
	return identity.Require(ctx, identity.SysAdmin, identity.Resource{})
}

// Drain has a node finish what is in flight and take no more.
func (svc *Service) Drain(ctx context.Context, id string) error {
	if _, err := svc.own(ctx, id); err != nil {
		return err
	}
	return svc.Cluster.Drain(ctx, id)
}

// Resume has a drained node work again.
func (svc *Service) Resume(ctx context.Context, id string) error {
	if _, err := svc.own(ctx, id); err != nil {
		return err
	}
	return svc.Cluster.Resume(ctx, id)
}

// Handover moves a node's messages to another and returns how many; to "" is the
// node that answers. The first must not be sending: OFFLINE or PASSIVE. wrong is
// what the caller has found in the members already: all of it is named together.
func (svc *Service) Handover(ctx context.Context, from, to string, wrong fault.Fields) (int64, error) {
	node, err := svc.own(ctx, from)
	if err != nil {
		return 0, err
	}
	if node.State != cluster.Offline && node.State != cluster.Passive {
		return 0, fault.New(fault.Conflict, "The node %s is %s and sends its messages itself: drain it first, or wait until it is %s.",
			from, node.State, cluster.Offline)
	}
	to = cmp.Or(to, svc.NodeID)
	target, err := svc.own(ctx, to)
	switch {
	case to == from:
		err = fault.InvalidField("to", "These are the messages of %s already; name another node.", to)
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict):
		err = fault.InvalidField("to", "%s", fault.As(err).Message)
	}
	if err := fault.Every(wrong.Err(), err); err != nil {
		return 0, err
	}
	if target.State != cluster.Active {
		return 0, fault.New(fault.Conflict, "The node %s is %s: only an %s node can take messages over.", to, target.State, cluster.Active)
	}
	return svc.Relay.Handover(ctx, from, to)
}

// Remove takes an OFFLINE node off the list; its messages go to the node that
// answers first.
func (svc *Service) Remove(ctx context.Context, id string) error {
	node, err := svc.own(ctx, id)
	if err != nil {
		return err
	}
	if node.State == cluster.Offline {
		queues, err := svc.queues(ctx)
		if err != nil {
			return err
		}
		if q := queues[id]; q != nil && q.Sizes != (mailqueue.Sizes{}) {
			if _, err := svc.Handover(ctx, id, "", nil); err != nil {
				return err
			}
		}
	}
	return svc.Store.Forget(ctx, id)
}

// own finds one of Outrigger's own nodes. It requires SYS_ADMIN.
func (svc *Service) own(ctx context.Context, id string) (cluster.Node, error) {
	if err := svc.requireSysAdmin(ctx); err != nil {
		return cluster.Node{}, err
	}
	nodes, err := svc.Cluster.Nodes(ctx)
	if err != nil {
		return cluster.Node{}, err
	}
	if i := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.ID == id }); i >= 0 {
		return nodes[i], nil
	}
	read, err := svc.Store.Readings(ctx)
	if err != nil {
		return cluster.Node{}, err
	}
	if slices.ContainsFunc(read.Watched, func(s mailqueue.NodeStatus) bool { return s.ID == id }) {
		return cluster.Node{}, fault.New(fault.Conflict, "The node %s is only watched; mail.nodes of the settings says which nodes are.", id)
	}
	return cluster.Node{}, fault.New(fault.NotFound, "There is no node %s.", id)
}
