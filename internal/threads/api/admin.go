// Package api is the wing's part of the REST API: the admin tool of the cloud
// side, and the self-hosted side. It decides nothing.
package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

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
	a.registerMigration(r)
	a.registerPreview(r)
	a.registerErrors(r)
	a.registerMigrationReport(r)
	a.registerVerify(r)
	a.registerBackup(r)
	a.registerThreads(r)
	a.uploads.Register(r)
}

// Stop ends requests that would hold up a stop of the server: those that bring
// files, and streams of events.
func (a *Admin) Stop() {
	a.end()
	a.uploads.Stop()
}

// later answers that something is being computed, and how far it is.
func later(w http.ResponseWriter, r *http.Request, v any) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(askAgain/time.Second)))
	return rest.WriteJSON(w, r, http.StatusAccepted, v)
}
