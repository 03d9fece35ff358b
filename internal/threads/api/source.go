package api

import (
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// Where the self-hosted side is; migration tools know the first two.
const (
	ExportPath = "/rest/threaded-comments/1.0/migration/export-data"
	ReportPath = "/rest/migration/latest/report/id-mappings"
	sourcePath = "/rest/threaded-comments/1.0/source"
	ScriptPath = sourcePath + "/" + source.ArchiveName
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

// Register adds the routes.
func (a *Source) Register(r *rest.Router) {
	handle := func(route rest.Route, h rest.Handler) {
		route.Access = rest.SysAdmins
		r.Handle(route, h)
	}
	upload := max(a.Imports.MaxUpload, 1)
	handle(rest.Route{Method: "GET", Path: ExportPath, Query: []string{"offset", "limit"}}, a.export)
	handle(rest.Route{Method: "GET", Path: ReportPath, Own: true, Query: []string{"cloudSiteUrl", "invalidateCache"}}, a.report)
	handle(rest.Route{Method: "GET", Path: sourcePath}, a.show)
	handle(rest.Route{Method: "POST", Path: sourcePath + "/hierarchy", MaxBody: upload}, a.importHierarchy)
	handle(rest.Route{Method: "DELETE", Path: sourcePath + "/hierarchy"}, a.clear)
	handle(rest.Route{Method: "POST", Path: sourcePath + "/mappings", MaxBody: upload, Query: []string{"cloudSiteUrl"}}, a.importMappings)
	handle(rest.Route{Method: "DELETE", Path: sourcePath + "/mappings", Query: []string{"cloudSiteUrl"}}, a.forget)
	handle(rest.Route{Method: "POST", Path: sourcePath + "/mirror", Query: []string{"acceptRemoval", "removes"}}, a.mirrorNow)
	handle(rest.Route{Method: "GET", Path: ScriptPath, Own: true}, a.script)
}

// sourceJSON is how the self-hosted side stands.
type sourceJSON struct {
	Source    string     `json:"source"` // file or sql
	Records   int64      `json:"records"`
	ChangedAt time.Time  `json:"changedAt,omitzero"`
	Mirror    *mirrored  `json:"mirror,omitempty"`
	Mappings  []siteJSON `json:"mappings"`
}

type mirrored struct {
	MirroredAt   time.Time `json:"mirroredAt,omitzero"`
	TriedAt      time.Time `json:"triedAt,omitzero"`
	Failure      string    `json:"failure,omitempty"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	Removes      int64     `json:"removes,omitempty"`
}

type siteJSON struct {
	CloudSiteURL string     `json:"cloudSiteUrl"`
	ChangedAt    time.Time  `json:"changedAt"`
	Total        int64      `json:"total"`
	EntityTypes  []kindJSON `json:"entityTypes"`
}

type kindJSON struct {
	EntityType string `json:"entityType"`
	Mappings   int64  `json:"mappings"`
}

func (a *Source) show(w http.ResponseWriter, r *http.Request) error {
	return a.answer(w, r, http.StatusOK)
}

// answer says how the side stands.
func (a *Source) answer(w http.ResponseWriter, r *http.Request, status int) error {
	st, err := a.Store.State(r.Context())
	if err != nil {
		return err
	}
	sites, err := a.Store.Sites(r.Context())
	if err != nil {
		return err
	}
	out := sourceJSON{Source: "file", Records: st.Records, ChangedAt: st.ChangedAt, Mappings: []siteJSON{}}
	if a.Mirror != nil {
		out.Source, out.Mirror = "sql", &mirrored{st.MirroredAt, st.TriedAt, st.Failure, st.FailingSince, st.Removes}
	}
	for _, s := range sites {
		site := siteJSON{CloudSiteURL: s.URL, ChangedAt: s.ChangedAt, Total: s.Mappings(), EntityTypes: []kindJSON{}}
		for _, k := range s.Kinds {
			site.EntityTypes = append(site.EntityTypes, kindJSON{k.EntityType, k.Mappings})
		}
		out.Mappings = append(out.Mappings, site)
	}
	return rest.WriteJSON(w, r, status, out)
}

// mirrorNow has the host's database read now.
func (a *Source) mirrorNow(w http.ResponseWriter, r *http.Request) error {
	var wrong fault.Fields
	text, number := r.URL.Query().Get("acceptRemoval"), r.URL.Query().Get("removes")
	accept, err := strconv.ParseBool(text)
	if err != nil && text != "" {
		wrong.Add("acceptRemoval", "Use true or false.")
	}
	removes, err := strconv.ParseInt(number, 10, 64)
	if number != "" && (err != nil || removes < 1) {
		wrong.Add("removes", "Give the number of records that the source's mirror says would be removed.")
	}
	if number != "" && !accept {
		wrong.Add("removes", "It goes with acceptRemoval=true.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := a.Mirror.Order(r.Context(), accept, removes); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusAccepted)
}

func (a *Source) script(w http.ResponseWriter, _ *http.Request) error {
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
