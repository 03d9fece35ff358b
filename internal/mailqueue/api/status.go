package api

import (
	"context"
	"net/http"

	"outrigger/internal/cluster"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

func (a *API) registerStatus(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: mailqueue.StatusPath, Access: rest.Monitoring, XML: true}, rest.Words{
		ID: "getMailQueue", Tag: "mail queue", Summary: "Returns the sizes of the mail queue of the node that answers.",
		Answer: "The two sizes.",
		Text: "As they are now: the node asks its source for each request. A source that does not answer is 503, never an old number. Needs " +
			"`ADMIN`, or a token of scope `monitoring`.",
		Refused: []int{http.StatusServiceUnavailable},
	}, func(ctx context.Context, _ struct{}) (mailqueue.MailQueue, error) { return a.Service.Sizes(ctx) },
		rest.Example[struct{}, mailqueue.MailQueue]{Name: "some", Out: &mailqueue.MailQueue{Size: 26, ErrorSize: 2}})
	rest.Add(r, rest.Route{Method: "GET", Path: clusterStatusPath, Access: rest.Monitoring, XML: true}, rest.Words{
		ID: "getClusterMailQueue", Tag: "mail queue", Summary: "Returns the sizes of the mail queues of all nodes.",
		Text: "Any node answers for all. Sizes are at most 60 seconds old, those of queues in the database as they are now. A source " +
			"that fails keeps its last sizes for 60 seconds; then they are 0 and 0, and the node's state here is `OFFLINE`, since " +
			"nothing can be said of its queue. A node that was never sampled has 0 and 0. The last sizes with their age are in `GET " +
			"/rest/outrigger/1.0/nodes`. Without a cluster, and with no node that is only watched, there are none. Needs `ADMIN`, or a " +
			"token of scope `monitoring`.",
		Answer: "The nodes, ordered by `nodeId`. In XML each is an element `node` right in `clusterMailQueue`.",
	}, func(ctx context.Context, _ struct{}) (mailqueue.ClusterMailQueue, error) {
		return a.Service.ClusterMailQueue(ctx)
	}, rest.Example[struct{}, mailqueue.ClusterMailQueue]{Name: "three", Out: &mailqueue.ClusterMailQueue{Nodes: []mailqueue.Node{
		{NodeID: "node_1", NodeState: cluster.Active, IsClustered: true, MailQueue: mailqueue.MailQueue{Size: 26, ErrorSize: 2}},
		{NodeID: "node_2", NodeState: cluster.Offline, IsClustered: true},
		{NodeID: "node_3", NodeState: cluster.Passive, IsClustered: true, MailQueue: mailqueue.MailQueue{Size: 4}},
	}}})
}
