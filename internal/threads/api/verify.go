package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

func (a *Admin) registerVerify(r *rest.Router) {
	path, access := MigrationPath+"/verify", rest.SysAdmins
	refusedFor := map[int]string{http.StatusConflict: "Nothing is loaded, or it is being processed, or the last comparison failed."}
	nothing := rest.Example[struct{}, threads.Verification]{Name: "fresh",
		Err: fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")}
	running := rest.Success{Status: http.StatusAccepted, Text: "It is going on.", Headers: []string{"Retry-After"}, Of: threads.Verification{}}
	rest.Serve(r, rest.Route{Method: "GET", Path: path, Access: access}, rest.Words{
		ID: "showVerification", Tag: tag, Text: needsSysAdmin, Answer: "How they compare.", Also: []rest.Success{running},
		Summary: "Returns the last comparison of the target with the data that is loaded, or begins the first one.",
		Refused: []int{http.StatusConflict}, RefusedFor: refusedFor,
	}, a.showVerify, rest.Example[struct{}, threads.Verification]{Name: "missing", Out: &exampleVerification}, nothing)
	rest.Serve(r, rest.Route{Method: "POST", Path: path, Access: access}, rest.Words{
		ID: "verifyMigration", Tag: tag, Status: running.Status, Answer: running.Text, Headers: running.Headers,
		Summary: "Begins a comparison of the target with the data that is loaded, unless one runs.",
		Text:    "Needs `SYS_ADMIN`. Not while data is processed.",
		Refused: []int{http.StatusConflict}, RefusedFor: refusedFor,
	}, a.verify, nothing)
}

func (a *Admin) verify(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	v, err := a.Verify(r.Context())
	if err != nil {
		return err
	}
	return later(w, r, v)
}

// showVerify returns the last comparison, or begins the first one.
func (a *Admin) showVerify(w http.ResponseWriter, r *http.Request, _ struct{}) error {
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
