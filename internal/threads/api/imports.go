package api

import (
	"net/http"

	"outrigger/internal/rest"
)

// importHierarchy takes a hierarchy file as the body, of whatever media type:
// it may be packed.
func (a *Source) importHierarchy(w http.ResponseWriter, r *http.Request) error {
	out, err := a.Imports.Hierarchy(r.Context(), r.Body)
	a.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *Source) importMappings(w http.ResponseWriter, r *http.Request) error {
	out, err := a.Imports.Mappings(r.Context(), r.URL.Query().Get("cloudSiteUrl"), r.Body)
	a.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *Source) clear(w http.ResponseWriter, r *http.Request) error {
	if err := a.Imports.Clear(r.Context()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Source) forget(w http.ResponseWriter, r *http.Request) error {
	if err := a.Imports.Forget(r.Context(), r.URL.Query().Get("cloudSiteUrl")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
