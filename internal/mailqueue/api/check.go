package api

import (
	"net/http"

	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

// check tries the smarthost of the node that answers.
func (a *API) check(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	if err := rest.ReadJSON(r, &in); err != nil {
		return err
	}
	steps, err := a.Check(r.Context(), in.From, in.To)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.List[mailqueue.CheckStep]{Items: steps})
}
