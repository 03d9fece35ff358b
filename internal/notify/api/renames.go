package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const renamesPath = "/rest/outrigger/1.0/renames"

// renameJSON is an offered rename.
type renameJSON struct {
	ID         int64               `json:"id"`
	Connection string              `json:"connection"`
	Hook       string              `json:"hook"` // "" is the connection's own
	From       scopeJSON           `json:"from"`
	To         scopeJSON           `json:"to"`
	Reason     notify.RenameReason `json:"reason"`
	There      occupantsJSON       `json:"there"`
	OfferedAt  time.Time           `json:"offeredAt"`
}

// occupantsJSON is what is at the new key.
type occupantsJSON struct {
	Rules       int `json:"rules"`
	Reports     int `json:"reports"`
	Hooks       int `json:"hooks"`
	Permissions int `json:"permissions"`
}

type scopeJSON struct {
	ProjectKey    string `json:"projectKey"`
	RepositoryKey string `json:"repositoryKey,omitempty"`
}

func (a *API) listRenames(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	after, err := page.AfterID()
	if err != nil {
		return err
	}
	found, err := a.Hooks.OfferedRenames(r.Context(), after, page.Limit+1)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(o notify.Rename) string { return strconv.FormatInt(o.ID, 10) },
		func(o notify.Rename) renameJSON {
			return renameJSON{o.ID, o.Connection, o.Hook, scopeJSON(o.From), scopeJSON(o.To), o.Reason, occupantsJSON{o.There.Rules, o.There.Reports, o.There.Hooks, o.There.Grants}, o.OfferedAt}
		}))
}

func (a *API) confirmRename(w http.ResponseWriter, r *http.Request) error {
	return decide(w, r, a.Hooks.ConfirmRename)
}

func (a *API) dismissRename(w http.ResponseWriter, r *http.Request) error {
	return decide(w, r, a.Hooks.DismissRename)
}

func decide(w http.ResponseWriter, r *http.Request, how func(context.Context, int64) error) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "There is no rename with id %q.", r.PathValue("id"))
	}
	if err := how(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
