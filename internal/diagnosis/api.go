package diagnosis

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/rest"
)

// Path is where a diagnosis is made.
const Path = "/rest/outrigger/1.0/diagnosis"

// API answers from a Source.
type API struct {
	Source
	// Confirmed is nil where who asks has shown the password or a second factor lately.
	Confirmed func(context.Context) error
	// Record notes in the audit trail that a diagnosis was made.
	Record func(context.Context) error
}

// Register adds the route.
func (a *API) Register(r *rest.Router) {
	rest.Serve[struct{}, rest.None](r, rest.Route{Method: "POST", Path: Path, Access: rest.SysAdmins, Own: true}, rest.Words{
		ID: "makeDiagnosis", Tag: "operation", Summary: "Downloads a diagnosis of the node that answers.", Media: []string{"application/zip"},
		Status: http.StatusOK, Answer: "The diagnosis.",
		Text: "Needs `SYS_ADMIN`, and more than a token; see `Outrigger-Code`. A zip file for a report of a fault: versions, " +
			"settings, metrics, goroutines, and the last 1,000 lines of the log. Secrets are masked, and of URLs only the host is shown; " +
			"it has no environment and no memory. Names of users, projects and repositories may be in the log: look at it before you " +
			"pass it on. It is in the audit trail.",
		Confirmed: true, Refused: []int{http.StatusServiceUnavailable},
	}, a.download)
}

func (a *API) download(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	if err := a.Confirmed(r.Context()); err != nil {
		return err
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return err
	}
	if err := a.Record(r.Context()); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="outrigger-`+a.Clock().UTC().Format("20060102-150405")+`.zip"`)
	h.Set("Content-Length", strconv.Itoa(file.Len()))
	_, _ = w.Write(file.Bytes()) // the client may be gone
	return nil
}
