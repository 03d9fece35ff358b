package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/upload"
)

const (
	migrationPath = "/rest/threaded-comments/1.0/migration"
	uploadsPath   = migrationPath + "/uploads"
	threadsPath   = "/rest/threaded-comments/1.0/issues/{cloudIssueId}/threads"

	// askAgain is what Retry-After says while something is computed: a file of
	// a million records takes a few seconds.
	askAgain = time.Second
)

// API is the admin tool's part of the REST API. All of it needs SYS_ADMIN.
type API struct {
	*Tool
	uploads *upload.API
	ended   context.Context // done when Stop was called
	end     context.CancelFunc
}

// NewAPI makes it.
func NewAPI(t *Tool) *API {
	a := &API{Tool: t, uploads: &upload.API{
		Store: t.Store.Uploads, Path: uploadsPath, Max: t.MaxUpload, Changed: t.Store.Changed,
		Kinds: []string{threads.HierarchyFile, threads.MappingsFile, threads.BackupFile},
	}}
	a.ended, a.end = context.WithCancel(context.Background())
	return a
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	handle := func(method, path string, own bool, maxBody int64, h rest.Handler) {
		r.Handle(rest.Route{Method: method, Path: path, Access: rest.SysAdmins, Own: own, MaxBody: maxBody}, h)
	}
	for _, op := range threads.Operations() {
		handle("POST", migrationPath+"/"+string(op), false, 0, a.operate(op))
	}
	handle("GET", migrationPath+"/status", false, 0, a.status)
	handle("GET", migrationPath+"/events", true, 0, a.events)
	handle("GET", migrationPath+"/preview", false, 0, a.preview)
	handle("GET", migrationPath+"/errors", false, 0, a.errors)
	handle("GET", migrationPath+"/errors.csv", true, 0, a.errorsCSV)
	handle("GET", migrationPath+"/verify", false, 0, a.showVerify)
	handle("POST", migrationPath+"/verify", false, 0, a.verify)
	handle("GET", migrationPath+"/backup", true, 0, a.backup)
	handle("GET", migrationPath+"/restore", false, 0, a.showRestore)
	handle("POST", migrationPath+"/restore", false, a.MaxUpload, a.restore)
	handle("GET", threadsPath, false, 0, a.threads)
	a.uploads.Register(r)
}

// Stop ends requests that would hold up a stop of the server: those that bring
// files, and streams of events.
func (a *API) Stop() {
	a.end()
	a.uploads.Stop()
}

// operate is the endpoint of an operation.
func (a *API) operate(op threads.Operation) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		accept, err := flag(r, "acceptIncomplete")
		if err != nil {
			return err
		}
		m, err := a.Store.Operate(r.Context(), actor(r.Context()), op, accept)
		if err != nil {
			return err
		}
		s, err := a.statusOf(r.Context(), &m)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusAccepted, s)
	}
}

// flag reads a parameter that is true or false, and false where it is not
// there.
func flag(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	on, err := strconv.ParseBool(text)
	if err != nil && text != "" {
		var wrong fault.Fields
		wrong.Add(name, "Say true or false.")
		return false, wrong.Err()
	}
	return on, nil
}

func (a *API) status(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Status(r.Context())
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, s)
}

// later answers that something is being computed, and how far it is.
func later(w http.ResponseWriter, r *http.Request, v any) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(askAgain/time.Second)))
	return rest.WriteJSON(w, r, http.StatusAccepted, v)
}

// stageJSON is how far a preview is.
type stageJSON struct {
	State string  `json:"state"` // wanted or running
	Step  string  `json:"step,omitempty"`
	Done  float64 `json:"done"` // of 1
}

func (a *API) preview(w http.ResponseWriter, r *http.Request) error {
	st, err := a.Store.Preview(r.Context())
	switch {
	case err != nil:
		return err
	case st.State == threads.StageFailed:
		return fault.New(fault.Invalid, "%s", st.Message)
	case st.Preview == nil:
		return later(w, r, stageJSON{st.State, st.Step, st.Done})
	}
	return rest.WriteJSON(w, r, http.StatusOK, st.Preview)
}
