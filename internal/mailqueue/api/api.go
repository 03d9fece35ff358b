// Package api is the mail queue's part of the REST API: the two read-only
// endpoints that any server of the mail queue API has, and what administrators
// do with nodes, queues and messages.
package api

import (
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
	"outrigger/internal/rest"
)

// The paths of what administrators do.
const (
	MailPath     = "/rest/outrigger/1.0/mail" // the queues of all nodes
	MessagesPath = MailPath + "/messages"
	NodesPath    = "/rest/outrigger/1.0/nodes"
)

const clusterStatusPath = "/rest/mailqueue/1.0/clusterStatus"

// API is the wing's part of the REST API.
type API struct {
	Service *admin.Service
	Relay   mailqueue.Relay
	Check   mailqueue.Check
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	a.registerStatus(r)
	a.registerCheck(r)
	a.registerNodes(r)
	a.registerQueues(r)
	a.registerMessages(r)
	a.registerSelections(r)
}
