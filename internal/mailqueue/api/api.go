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
		query        []string
	}{
		{"GET", "", false, a.listQueues, nil},
		{"GET", "/messages", false, a.listMessages, rest.Paged("node", "state", "sender", "recipient", "subject", "age")},
		{"GET", "/messages/{id}", false, a.message, nil},
		{"DELETE", "/messages/{id}", false, a.deleteMessage, nil},
		{"GET", "/messages/{id}/content", true, a.content, nil},
		{"POST", "/messages/{id}/resend", false, a.resend, nil},
		{"POST", "/resend", false, a.resendAll, nil},
		{"POST", "/delete", false, a.deleteAll, nil},
		{"POST", "/flush", false, a.flush, nil},
		{"POST", "/pause", false, a.pause, nil},
		{"POST", "/resume", false, a.resumeSending, nil},
	} {
		r.Handle(rest.Route{Method: route.method, Path: mailPath + route.path, Access: rest.Admins, Own: route.own, Query: route.query}, route.handle)
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
