package api

import (
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// hookJSON is a hook as the API writes it, and reads it: its read-only members
// may be sent back and are ignored.
type hookJSON struct {
	Name          string     `json:"name"`
	ProjectKey    string     `json:"projectKey,omitempty"`
	RepositoryKey string     `json:"repositoryKey,omitempty"`
	URL           string     `json:"url"`
	Secret        string     `json:"secret,omitempty"` // at creation and rotation only
	ReadOnly      bool       `json:"readOnly"`
	SecretLost    bool       `json:"secretLost,omitempty"`
	PreviousUntil *time.Time `json:"previousUntil,omitempty"`
	CreatedBy     string     `json:"createdBy,omitempty"`
	CreatedAt     *time.Time `json:"createdAt,omitempty"`
	RotatedBy     string     `json:"rotatedBy,omitempty"`
	RotatedAt     *time.Time `json:"rotatedAt,omitempty"`
}

func hookOut(r *http.Request, h *notify.Hook) hookJSON {
	return hookJSON{
		Name: h.Name, ProjectKey: h.Scope.ProjectKey, RepositoryKey: h.Scope.RepositoryKey,
		URL: rest.Link(r.Context(), notify.HookPath(h.Connection, h.Name)), ReadOnly: h.ID == 0, SecretLost: h.SecretLost(), PreviousUntil: timePointer(h.PreviousUntil),
		CreatedBy: h.CreatedBy, CreatedAt: timePointer(h.CreatedAt), RotatedBy: h.RotatedBy, RotatedAt: timePointer(h.RotatedAt),
	}
}

func (a *API) listHooks(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	all, err := a.Hooks.List(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	name := func(h *notify.Hook) string { return h.Name }
	list := rest.NewList(page, pageAfter(page, all, name), name, func(h *notify.Hook) hookJSON { return hookOut(r, h) })
	return rest.WriteJSON(w, r, http.StatusOK, list)
}

func (a *API) hook(w http.ResponseWriter, r *http.Request) error {
	h, err := a.Hooks.Get(r.Context(), r.PathValue("name"), r.PathValue("hook"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, hookOut(r, h))
}

func (a *API) createHook(w http.ResponseWriter, r *http.Request) error {
	var (
		in    hookJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	draft := notify.Hook{
		Connection: r.PathValue("name"), Name: in.Name, Scope: notify.Scope{ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey},
	}
	if len(wrong) > 0 {
		return fault.Every(wrong.Err(), draft.Validate())
	}
	h, err := a.Hooks.Create(r.Context(), draft)
	if err != nil {
		return err
	}
	out := hookOut(r, &h)
	out.Secret = h.Secret.Reveal()
	w.Header().Set("Location", rest.Link(r.Context(), connectionsPath+"/"+h.Connection+"/hooks/"+h.Name))
	return rest.WriteJSON(w, r, http.StatusCreated, out)
}

func (a *API) rotateHook(w http.ResponseWriter, r *http.Request) error {
	h, err := a.Hooks.Rotate(r.Context(), r.PathValue("name"), r.PathValue("hook"))
	if err != nil {
		return err
	}
	out := hookOut(r, &h)
	out.Secret = h.Secret.Reveal()
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *API) deleteHook(w http.ResponseWriter, r *http.Request) error {
	if err := a.Hooks.Delete(r.Context(), r.PathValue("name"), r.PathValue("hook")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
