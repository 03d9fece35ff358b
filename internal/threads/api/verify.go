package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

func (a *Admin) verify(w http.ResponseWriter, r *http.Request) error {
	v, err := a.Verify(r.Context())
	if err != nil {
		return err
	}
	return later(w, r, v)
}

// showVerify returns the last comparison, or begins the first one.
func (a *Admin) showVerify(w http.ResponseWriter, r *http.Request) error {
	v, err := a.Verification(r.Context())
	if err == nil && v == nil {
		v, err = a.Verify(r.Context())
	}
	switch {
	case err != nil:
		return err
	case v.State == threads.JobRunning:
		return later(w, r, v)
	case v.State == threads.JobFailed:
		return fault.New(fault.Conflict, "The target could not be compared: %s Send another POST to try again.", v.Message)
	}
	return rest.WriteJSON(w, r, http.StatusOK, v)
}
