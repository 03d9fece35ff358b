package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

func (a *Admin) registerVerify(r *rest.Router) {
	route := rest.Route{Path: MigrationPath + "/verify", Access: rest.SysAdmins}
	words := rest.Words{
		Tag: tag, Text: needsSysAdmin, Refused: []int{http.StatusConflict},
		RefusedFor: map[int]string{http.StatusConflict: "Nothing is loaded, or it is being processed, or the last comparison failed."},
	}
	show, begin := rest.Operation[struct{}, threads.Verification]{Route: route, Words: words, Serve: a.showVerify},
		rest.Operation[struct{}, threads.Verification]{Route: route, Words: words, Serve: a.verify}
	nothing := rest.Example[struct{}, threads.Verification]{Name: "fresh",
		Err: fault.New(fault.Conflict, "Nothing is loaded that the target could be compared with.")}
	running := rest.Success{Status: http.StatusAccepted, Text: "It is going on.", Headers: []string{"Retry-After"}, Of: threads.Verification{}}

	show.Method, show.ID, show.Answer, show.Also = "GET", "showVerification", "How they compare.", []rest.Success{running}
	show.Summary = "Returns the last comparison of the target with the data that is loaded, or begins the first one."
	show.Examples = []rest.Example[struct{}, threads.Verification]{{Name: "missing", Out: &exampleVerification}, nothing}
	rest.Add(r, show)

	begin.Method, begin.ID = "POST", "verifyMigration"
	begin.Status, begin.Answer, begin.Headers = running.Status, running.Text, running.Headers
	begin.Summary = "Begins a comparison of the target with the data that is loaded, unless one runs."
	begin.Text = "Needs `SYS_ADMIN`. Not while data is processed."
	begin.Examples = []rest.Example[struct{}, threads.Verification]{nothing}
	rest.Add(r, begin)
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
