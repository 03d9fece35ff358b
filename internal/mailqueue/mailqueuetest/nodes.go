package mailqueuetest

import (
	"context"

	"outrigger/internal/cluster"
	"outrigger/internal/mailqueue"
)

// Nodes are a cluster as the tests say it is.
type Nodes struct {
	List []cluster.Node
	Did  []string
	Err  error
}

func (n *Nodes) Nodes(context.Context) ([]cluster.Node, error) { return n.List, n.Err }

func (n *Nodes) Drain(_ context.Context, id string) error {
	n.Did = append(n.Did, "drain "+id)
	return n.Err
}

func (n *Nodes) Resume(_ context.Context, id string) error {
	n.Did = append(n.Did, "resume "+id)
	return n.Err
}

// Source returns what it holds.
type Source struct {
	Now mailqueue.Sizes
	Err error
}

func (s *Source) Sizes(context.Context) (mailqueue.Sizes, error) { return s.Now, s.Err }
