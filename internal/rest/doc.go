// Package rest serves HTTP for the whole program: the router, authentication,
// JSON or XML by Accept, strict reading of bodies, error bodies, request ids,
// the request log and metrics.
//
// An endpoint is an operation that Add adds: a Route, the Words of its description, and a
// function of the input that the request gives:
//
//	rest.Add(r, rest.Route{Method: "GET", Path: "/rest/mailqueue/1.0/status", Access: rest.Monitoring, XML: true},
//		rest.Words{ID: "getQueue", Tag: "queue", Summary: "Returns the queue.", Answer: "The queue."}, a.queue)
//
// The package knows identity, and identity does not know it; the endpoints of
// identity are in the package accounts below. It knows no wing.
package rest
