package api

import (
	"net/http"

	"outrigger/internal/rest"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// Where the self-hosted side is; migration tools know the first two.
const (
	ExportPath = "/rest/threaded-comments/1.0/migration/export-data"
	ReportPath = "/rest/migration/latest/report/id-mappings"
	SourcePath = "/rest/threaded-comments/1.0/source"
	ScriptPath = SourcePath + "/" + source.ArchiveName
)

// Source is the self-hosted side's part of the REST API. All of it needs
// SYS_ADMIN.
type Source struct {
	Store   *store.Source
	Imports *source.Imports
	Reports *source.Reports
	Mirror  *source.Mirror // nil: the hierarchy comes from files
	Metrics *source.Metrics
}

// Register adds the operations.
func (a *Source) Register(r *rest.Router) {
	a.registerExport(r)
	a.registerReport(r)
	a.registerState(r)
	a.registerImports(r)
	rest.Serve[struct{}, rest.None](r, rest.Route{Method: "GET", Path: ScriptPath, Access: rest.SysAdmins, Own: true}, rest.Words{
		ID: "getHelperScript", Tag: tag, Summary: "Returns the helper script, which exports the hierarchy with curl.", Text: needsSysAdmin,
		Answer: "A zip archive with an executable POSIX shell script.", Media: []string{"application/zip"},
	}, a.script)
}

const (
	tag           = "threads"
	needsSysAdmin = "Needs `SYS_ADMIN`."
)

func (a *Source) script(w http.ResponseWriter, _ *http.Request, _ struct{}) error {
	archive, err := source.Archive()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+source.ArchiveName+`"`)
	_, _ = w.Write(archive) // the client may be gone
	return nil
}
