// Package api is the mail queue's part of the REST API: the two read-only
// endpoints that any server of the mail queue API has, and what administrators
// do with nodes, queues and messages.
package api

import (
	"net/http"

	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

const (
	clusterStatusPath = "/rest/mailqueue/1.0/clusterStatus"
	mailPath          = "/rest/outrigger/1.0/mail"
	nodesPath         = "/rest/outrigger/1.0/nodes"
)

// API is the wing's part of the REST API.
type API struct {
	Service *mailqueue.Service
	Relay   mailqueue.Relay
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: mailqueue.StatusPath, Access: rest.Monitoring, XML: true}, a.status)
	r.Handle(rest.Route{Method: "GET", Path: clusterStatusPath, Access: rest.Monitoring, XML: true}, a.clusterStatus)
	a.registerNodes(r)
	a.registerMail(r)
}

func (a *API) registerMail(r *rest.Router) {
	for _, route := range []struct {
		method, path string
		own          bool
		handle       rest.Handler
	}{
		{"GET", "", false, a.listQueues},
		{"GET", "/messages", false, a.listMessages},
		{"GET", "/messages/{id}", false, a.message},
		{"DELETE", "/messages/{id}", false, a.deleteMessage},
		{"GET", "/messages/{id}/content", true, a.content},
		{"POST", "/messages/{id}/resend", false, a.resend},
		{"POST", "/resend", false, a.resendAll},
		{"POST", "/delete", false, a.deleteAll},
		{"POST", "/flush", false, a.flush},
		{"POST", "/pause", false, a.pause},
		{"POST", "/resume", false, a.resumeSending},
	} {
		r.Handle(rest.Route{Method: route.method, Path: mailPath + route.path, Access: rest.Admins, Own: route.own}, route.handle)
	}
}

// countJSON says how many messages something was done to.
type countJSON struct {
	Messages int64 `json:"messages"`
}

func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
