package api

import (
	"context"
	"time"

	"outrigger/internal/rest"
)

// RelayQueue is a node's queue in the database.
type RelayQueue struct {
	NodeID      string    `json:"nodeId"`
	Size        int64     `json:"size" doc:"Messages in the mail queue."`
	ErrorSize   int64     `json:"errorSize" doc:"Messages in the mail error queue."`
	OldestAt    time.Time `json:"oldestAt,omitzero" doc:"When the oldest message that waits was queued."`
	Paused      bool      `json:"paused" doc:"By an administrator."`
	NoSmarthost bool      `json:"noSmarthost,omitempty" doc:"mail.smarthost is not set on that node, so its mail waits."`
	HeldUntil   time.Time `json:"heldUntil,omitzero" doc:"Paused until then: a failure or a limit (mail.provider, mail.rate, mail.quota)."`
	HeldFor     string    `json:"heldFor,omitempty" doc:"The failure or the limit."`
}

// ofQueue is a request about a node's queue.
type ofQueue struct {
	Node string `json:"node,omitempty" doc:"Whose queue; without it every node's."`
}

func (a *API) registerQueues(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: MailPath, Access: rest.Admins}, rest.Words{
		ID: "listMailQueues", Tag: "mail", Summary: "Lists the queues of the relay by node.", Answer: "The queues, ordered by `nodeId`.",
		Text: "Needs `ADMIN`. All of them are on one page, those of nodes that are gone included.",
	}, a.listQueues, rest.Example[struct{}, rest.List[RelayQueue]]{Name: "one", Out: &rest.List[RelayQueue]{Items: []RelayQueue{{
		NodeID: "node_1", Size: 26, ErrorSize: 2, OldestAt: day.Add(16 * time.Hour), HeldUntil: day.Add(17 * time.Hour),
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

func (a *API) listQueues(ctx context.Context, _ struct{}) (rest.List[RelayQueue], error) {
	queues, err := a.Relay.Queues(ctx)
	out := rest.List[RelayQueue]{Items: make([]RelayQueue, len(queues))}
	for i, q := range queues {
		out.Items[i] = RelayQueue{q.NodeID, q.Size, q.ErrorSize, q.Oldest, q.Paused, q.NoSmarthost, q.HeldUntil, q.HeldFor}
	}
	return out, err
}
