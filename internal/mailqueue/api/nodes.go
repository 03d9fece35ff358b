package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

// ClusterNode is a node as Outrigger's own API writes it: what the mail queue API
// has no place for.
type ClusterNode struct {
	NodeID    string        `json:"nodeId" doc:"The node's id."`
	State     cluster.State `json:"nodeState" enum:"ACTIVE,PASSIVE,ACTIVATING,PASSIVATING,OFFLINE" doc:"OFFLINE: no sign of life for 20 s."`
	Watched   bool          `json:"watched" doc:"It is only watched (mail.nodes): Outrigger does not run there."`
	Self      bool          `json:"self" doc:"It is the node that answers."`
	Address   string        `json:"address,omitempty" doc:"Where other nodes reach it; absent for one that is only watched."`
	Version   string        `json:"version,omitempty" doc:"Of Outrigger; absent for one that is only watched."`
	StartedAt time.Time     `json:"startedAt,omitzero" doc:"When its process started."`
	SeenAt    time.Time     `json:"seenAt,omitzero" doc:"Its last sign of life."`
	ChangedAt time.Time     `json:"changedAt,omitzero" doc:"When its state changed."`

	Source       string              `json:"source,omitempty" enum:"relay,postfix,jmx,remote" doc:"Where its sizes come from."`
	MailQueue    mailqueue.MailQueue `json:"mailQueue" doc:"The last sizes that its source gave; 0 and 0 until then."`
	SampledAt    time.Time           `json:"sampledAt,omitzero" doc:"When the sizes were read; absent when they never were."`
	SampleAge    *float64            `json:"sampleAge,omitempty" doc:"How old the sizes are, in seconds."`
	SampleError  string              `json:"sampleError,omitempty" doc:"Why the source gives no sizes now."`
	FailingSince time.Time           `json:"failingSince,omitzero" doc:"Since when the source has given no sizes."`
	OldestAt     time.Time           `json:"oldestAt,omitzero" doc:"When the oldest message that waits was queued; only of the relay."`
	Verdict      mailqueue.Verdict   `json:"verdict" enum:"fine,attention,act,unknown"`
	Reason       string              `json:"reason,omitempty" doc:"Why the verdict is not fine, in a sentence."`
}

// MemberWords are those of the members that need more than a few.
func (ClusterNode) MemberWords() map[string]string {
	return map[string]string{
		"verdict": "By the host application's published thresholds: attention from 50 messages on; act from 100 on, with any error mail, " +
			"or when the oldest message is 30 minutes old or more. attention at least where mail waits and no smarthost is set.",
	}
}

// ofNode is a request about a node.
type ofNode struct {
	ID string `path:"id" json:"-" doc:"The node, as nodeId has it." example:"node_9"`
}

// handover is where the messages of a node go.
type handover struct {
	ofNode
	To    string       `json:"to,omitempty" doc:"The other node; without it the one that answers."`
	Wrong fault.Fields `json:"-"`
}

func (a *API) registerNodes(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: NodesPath, Access: rest.Admins}, rest.Words{
		ID: "listNodes", Tag: "operation", Summary: "Lists every node with its state and what is known of its mail queue.",
		Text: "Needs `ADMIN`. All of them are on one page.", Answer: "The nodes, ordered by `nodeId`.",
	}, a.listNodes, exampleNodes...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: NodesPath + "/{id}", Access: rest.SysAdmins}, rest.Words{
		ID: "removeNode", Tag: "operation", Summary: "Takes a node off the list.", Answer: "The node is off the list.",
		Refused: []int{http.StatusConflict},
		Text: "Needs `SYS_ADMIN`. The node must be OFFLINE (409). Its messages are handed to the node that answers first. It comes " +
			"back when its process starts again.",
	}, rest.Done(func(ctx context.Context, in ofNode) error { return a.Service.Remove(ctx, in.ID) }))
	rest.Add(r, rest.Route{Method: "POST", Path: NodesPath + "/{id}/drain", Access: rest.SysAdmins}, rest.Words{
		ID: "drainNode", Tag: "operation", Summary: "Has a node finish what is in flight and take no more.",
		Answer: "The node is PASSIVATING.",
		Text: "Needs `SYS_ADMIN`. The node must be ACTIVE (409); it is PASSIVATING, then PASSIVE when nothing is in flight. It works " +
			"again when it is resumed or its process starts again.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofNode) error { return a.Service.Drain(ctx, in.ID) }), noNode)
	rest.Add(r, rest.Route{Method: "POST", Path: NodesPath + "/{id}/resume", Access: rest.SysAdmins}, rest.Words{
		ID: "resumeNode", Tag: "operation", Summary: "Has a drained node work again.", Answer: "The node is ACTIVE.",
		Text: "Needs `SYS_ADMIN`. The node must be PASSIVATING or PASSIVE (409).", Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofNode) error { return a.Service.Resume(ctx, in.ID) }), noNode)
	rest.Add(r, rest.Route{Method: "POST", Path: NodesPath + "/{id}/handover", Access: rest.SysAdmins}, rest.Words{
		ID: "handOverMessages", Tag: "operation", Summary: "Gives a node's messages to another node.",
		Answer: "How many messages the other node has now.",
		Text: "Needs `SYS_ADMIN`. The node must be OFFLINE or PASSIVE, the other ACTIVE (409). Messages in the error queue go too, " +
			"and stay there. After `mail.handover_after` OFFLINE this happens by itself.",
		Refused: []int{http.StatusConflict},
	}, func(ctx context.Context, in handover) (Messages, error) {
		n, err := a.Service.Handover(ctx, in.ID, in.To, in.Wrong)
		return Messages{n}, err
	}, rest.Example[handover, Messages]{Name: "gone", Err: noNode.Err})
}

var noNode = rest.Example[ofNode, rest.None]{Name: "fresh", Err: fault.New(fault.NotFound, "There is no node node_9.")}

var exampleNodes = []rest.Example[struct{}, rest.List[ClusterNode]]{{Name: "one", Out: &rest.List[ClusterNode]{Items: []ClusterNode{{
	NodeID: "node_1", State: cluster.Active, Self: true, Address: "https://outrigger.example.com", Version: "v1.0.0",
	StartedAt: day.Add(8 * time.Hour), SeenAt: day.Add(16*time.Hour + 20*time.Minute),
	ChangedAt: day.Add(8*time.Hour + 900*time.Millisecond),
	Source:    "postfix", MailQueue: mailqueue.MailQueue{Size: 60},
	SampledAt: day.Add(16*time.Hour + 20*time.Minute), SampleAge: new(float64),
	Verdict: mailqueue.Attention, Reason: "60 messages are waiting.",
}}}}}

// day is that of the examples.
var day = time.Date(2026, 2, 5, 0, 0, 0, 0, time.UTC)

func (a *API) listNodes(ctx context.Context, _ struct{}) (rest.List[ClusterNode], error) {
	list, err := a.Service.NodeStatuses(ctx)
	// All of them: clusters are too small for pages.
	out := rest.List[ClusterNode]{Items: make([]ClusterNode, len(list))}
	for i := range list {
		out.Items[i] = nodeOf(&list[i])
	}
	return out, err
}

func nodeOf(s *mailqueue.NodeStatus) ClusterNode {
	out := ClusterNode{
		NodeID: s.ID, State: s.State, Watched: s.Watched, Self: s.Self, Address: s.Address, Version: s.Version,
		StartedAt: s.StartedAt, SeenAt: s.BeatAt, ChangedAt: s.ChangedAt,
		Source: s.Source, MailQueue: mailqueue.MailQueueOf(s.Sizes), SampledAt: s.At, SampleError: s.Error,
		FailingSince: s.FailingAt,
		OldestAt:     s.Oldest(),
	}
	if age, ok := s.Age(); ok {
		seconds := age.Seconds()
		out.SampleAge = &seconds
	}
	out.Verdict, out.Reason = s.Judge()
	return out
}
