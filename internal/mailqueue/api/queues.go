package api

import (
	"net/http"
	"time"

	"outrigger/internal/rest"
)

// queueJSON is a node's queue in the database.
type queueJSON struct {
	NodeID    string    `json:"nodeId"`
	Size      int64     `json:"size"`
	ErrorSize int64     `json:"errorSize"`
	OldestAt  time.Time `json:"oldestAt,omitzero"`
	Paused    bool      `json:"paused"`
	HeldUntil time.Time `json:"heldUntil,omitzero"`
	HeldFor   string    `json:"heldFor,omitempty"`
}

func (a *API) listQueues(w http.ResponseWriter, r *http.Request) error {
	queues, err := a.Relay.Queues(r.Context())
	if err != nil {
		return err
	}
	out := rest.List[queueJSON]{Items: make([]queueJSON, len(queues))}
	for i, q := range queues {
		out.Items[i] = queueJSON{q.NodeID, q.Size, q.ErrorSize, q.Oldest, q.Paused, q.HeldUntil, q.HeldFor}
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *API) pause(w http.ResponseWriter, r *http.Request) error { return a.setPaused(w, r, true) }

func (a *API) resumeSending(w http.ResponseWriter, r *http.Request) error {
	return a.setPaused(w, r, false)
}

func (a *API) setPaused(w http.ResponseWriter, r *http.Request, paused bool) error {
	node, err := bodyNode(r)
	if err != nil {
		return err
	}
	return noContent(w, a.Relay.SetPaused(r.Context(), node, paused))
}

// bodyNode reads whose queue a request is about: "" for every node's.
func bodyNode(r *http.Request) (string, error) {
	var in struct {
		Node string `json:"node"`
	}
	err := rest.ReadJSON(r, &in)
	return in.Node, err
}
