package api

import (
	"context"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

type relayQueues = rest.List[mailqueue.RelayQueue]

// ofQueue is a request about a node's queue.
type ofQueue struct {
	Node string `json:"node,omitempty" doc:"Whose queue; without it every node's."`
}

func (a *API) registerQueues(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: MailPath, Access: rest.Admins}, rest.Words{
		ID: "listMailQueues", Tag: "mail", Summary: "Lists the queues of the relay by node.", Answer: "The queues, ordered by `nodeId`.",
		Text: "Needs `ADMIN`. All of them are on one page, those of nodes that are gone included.",
	}, a.listQueues, rest.Example[struct{}, relayQueues]{Name: "one", Out: &relayQueues{Items: []mailqueue.RelayQueue{{
		NodeID: "node_1", Sizes: mailqueue.Sizes{Size: 26, ErrorSize: 2}, Oldest: day.Add(16 * time.Hour), HeldUntil: day.Add(17 * time.Hour),
		HeldFor: "535 5.7.8 authentication failed",
	}}}})
	rest.Add(r, rest.Route{Method: "POST", Path: MailPath + "/pause", Access: rest.Admins}, rest.Words{
		ID: "pauseMail", Tag: "mail", Summary: "Pauses sending. New messages are still taken, and wait.",
		Text: "Needs `ADMIN`.", Answer: "Sending is paused.",
	}, rest.Done(func(ctx context.Context, in ofQueue) error { return a.Relay.SetPaused(ctx, in.Node, true) }),
		rest.Example[ofQueue, rest.None]{Name: "everywhere"})
	rest.Add(r, rest.Route{Method: "POST", Path: MailPath + "/resume", Access: rest.Admins}, rest.Words{
		ID: "resumeMail", Tag: "mail", Summary: "Has sending go on after a pause.", Text: "Needs `ADMIN`.",
		Answer: "Sending was resumed.",
	}, rest.Done(func(ctx context.Context, in ofQueue) error { return a.Relay.SetPaused(ctx, in.Node, false) }),
		rest.Example[ofQueue, rest.None]{Name: "everywhere"})
}

func (a *API) listQueues(ctx context.Context, _ struct{}) (relayQueues, error) {
	queues, err := a.Relay.Queues(ctx)
	return relayQueues{Items: append([]mailqueue.RelayQueue{}, queues...)}, err
}
