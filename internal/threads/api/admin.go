// Package api is the wing's part of the REST API: the admin tool of the cloud
// side, and the self-hosted side. It decides nothing.
package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

const (
	// MigrationPath is where the admin tool is, UploadsPath where files are sent,
	// migrationReportPath where a migration is reported on.
	MigrationPath       = "/rest/threaded-comments/1.0/migration"
	UploadsPath         = MigrationPath + "/uploads"
	migrationReportPath = MigrationPath + "/report"
	threadsPath         = "/rest/threaded-comments/1.0/issues/{cloudIssueId}/threads"

	// askAgain is what Retry-After says while something is computed: a file of
	// a million records takes a few seconds.
	askAgain = time.Second
)

// Admin is the admin tool's part of the REST API. All of it needs SYS_ADMIN.
type Admin struct {
	*admin.Tool
	uploads   *Uploads
	followers rest.Streams
	ended     context.Context // done when Stop was called
	end       context.CancelFunc
}

// NewAdmin makes it.
func NewAdmin(t *admin.Tool) *Admin {
	a := &Admin{Tool: t, uploads: &Uploads{
		Store: t.Store.Uploads, Path: UploadsPath, Max: t.MaxUpload, Changed: t.Store.Changed,
		Kinds: []string{threads.HierarchyFile, threads.MappingsFile, threads.BackupFile},
	}}
	a.ended, a.end = context.WithCancel(context.Background())
	return a
}

// Register adds the routes.
func (a *Admin) Register(r *rest.Router) {
	handle := func(method, path string, own bool, maxBody int64, h rest.Handler, query ...string) {
		r.Handle(rest.Route{Method: method, Path: path, Access: rest.SysAdmins, Own: own, MaxBody: maxBody, Query: query}, h)
	}
	for _, op := range threads.Operations() {
		var query []string
		if op == threads.OpUpload {
			query = []string{"acceptIncomplete", "acceptOtherSite"}
		}
		handle("POST", MigrationPath+"/"+string(op), false, 0, a.operate(op), query...)
	}
	handle("GET", MigrationPath+"/status", false, 0, a.status)
	handle("GET", MigrationPath+"/events", true, 0, a.events)
	handle("GET", MigrationPath+"/preview", false, 0, a.preview)
	handle("GET", MigrationPath+"/errors", false, 0, a.errors, rest.Paged()...)
	handle("GET", MigrationPath+"/errors.csv", true, 0, a.errorsCSV)
	handle("GET", migrationReportPath, true, 0, a.migrationReport, "format")
	handle("GET", MigrationPath+"/verify", false, 0, a.showVerify)
	handle("POST", MigrationPath+"/verify", false, 0, a.verify)
	handle("GET", MigrationPath+"/backup", true, 0, a.backup)
	handle("GET", MigrationPath+"/restore", false, 0, a.showRestore)
	handle("POST", MigrationPath+"/restore", false, a.MaxUpload, a.restore, "mode", "upload")
	handle("GET", threadsPath, false, 0, a.threads)
	a.uploads.Register(r)
}

// Stop ends requests that would hold up a stop of the server: those that bring
// files, and streams of events.
func (a *Admin) Stop() {
	a.end()
	a.uploads.Stop()
}

// flag reads a parameter that is true or false, and false where it is not
// there.
func flag(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	on, err := strconv.ParseBool(text)
	if err != nil && text != "" {
		var wrong fault.Fields
		wrong.Add(name, "Use true or false.")
		return false, wrong.Err()
	}
	return on, nil
}

// later answers that something is being computed, and how far it is.
func later(w http.ResponseWriter, r *http.Request, v any) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(askAgain/time.Second)))
	return rest.WriteJSON(w, r, http.StatusAccepted, v)
}
