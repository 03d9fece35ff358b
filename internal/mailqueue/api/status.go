package api

import (
	"net/http"

	"outrigger/internal/rest"
)

func (a *API) status(w http.ResponseWriter, r *http.Request) error {
	queue, err := a.Service.Sizes(r.Context())
	if err != nil {
		return err
	}
	return rest.Write(w, r, http.StatusOK, queue)
}

func (a *API) clusterStatus(w http.ResponseWriter, r *http.Request) error {
	queues, err := a.Service.ClusterMailQueue(r.Context())
	if err != nil {
		return err
	}
	return rest.Write(w, r, http.StatusOK, queues)
}
