// Package rest serves HTTP for the whole program: the router, authentication,
// JSON or XML by Accept, strict reading of bodies, error bodies, request ids,
// the request log and metrics.
//
// An endpoint is a Route and a Handler. The handler answers with Write,
// WriteJSON or nothing at all, or returns an error, which the router renders:
//
//	r.Handle(rest.Route{Method: "GET", Path: "/rest/mailqueue/1.0/status", Access: rest.Monitoring, XML: true},
//		func(w http.ResponseWriter, r *http.Request) error {
//			return rest.Write(w, r, http.StatusOK, queue)
//		})
//
// The package knows identity, and identity does not know it; the endpoints of
// identity are in the package accounts below. It knows no wing.
package rest
