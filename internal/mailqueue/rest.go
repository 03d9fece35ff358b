package mailqueue

import (
	"net/http"

	"outrigger/internal/rest"
)

const basePath = "/rest/mailqueue/1.0"

// StatusPath is where a server of this API gives the sizes of its node.
const StatusPath = basePath + "/status"

// API is the wing's part of the REST API.
type API struct {
	Board *Board
	Relay Relay
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: StatusPath, Access: rest.Monitoring, XML: true}, a.status)
	r.Handle(rest.Route{Method: "GET", Path: basePath + "/clusterStatus", Access: rest.Monitoring, XML: true}, a.clusterStatus)
	a.registerNodes(r)
	a.registerMail(r)
}

func (a *API) status(w http.ResponseWriter, r *http.Request) error {
	queue, err := a.Board.Sizes(r.Context())
	if err != nil {
		return err
	}
	return rest.Write(w, r, http.StatusOK, queue)
}

func (a *API) clusterStatus(w http.ResponseWriter, r *http.Request) error {
	queues, err := a.Board.ClusterMailQueue(r.Context())
	if err != nil {
		return err
	}
	return rest.Write(w, r, http.StatusOK, queues)
}
