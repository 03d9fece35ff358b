// Package api is the settings in the REST API.
package api

import (
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/settings"
)

const path = "/rest/mtbs/1.0/configuration/settings"

// API answers from a Store.
type API struct {
	Store  *settings.Store
	Client settings.Client
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: path, Access: rest.Admins}, a.read)
	r.Handle(rest.Route{Method: "PUT", Path: path, Access: rest.Admins}, a.save)
	r.Handle(rest.Route{Method: "POST", Path: path + "/test", Access: rest.Admins}, a.try)
}

// settingsJSON is the settings as the API writes and reads them.
type settingsJSON struct {
	ProxyURL  string     `json:"proxyUrl,omitempty"`
	Version   int64      `json:"version"`
	UpdatedBy string     `json:"updatedBy,omitempty"` // read only
	UpdatedAt *time.Time `json:"updatedAt,omitempty"` // read only
}

func (a *API) read(w http.ResponseWriter, r *http.Request) error {
	stored, err := a.Store.Read(r.Context())
	if err != nil {
		return err
	}
	return write(w, r, stored)
}

func (a *API) save(w http.ResponseWriter, r *http.Request) error {
	var (
		in    settingsJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	saved, err := a.Store.Save(r.Context(), settings.Draft{ProxyURL: in.ProxyURL, Version: in.Version}, wrong)
	if err != nil {
		return err
	}
	return write(w, r, saved)
}

func write(w http.ResponseWriter, r *http.Request, s *settings.Settings) error {
	out := settingsJSON{ProxyURL: s.ProxyURL(), Version: s.Version, UpdatedBy: s.UpdatedBy}
	if !s.UpdatedAt.IsZero() {
		out.UpdatedAt = &s.UpdatedAt
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// trialJSON is a proxy to try, and what to ask it for.
type trialJSON struct {
	ProxyURL string `json:"proxyUrl,omitempty"`
	URL      string `json:"url,omitempty"`
}

func (a *API) try(w http.ResponseWriter, r *http.Request) error {
	var (
		in    trialJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	message, err := a.Store.Try(r.Context(), a.Client, in.ProxyURL, in.URL, wrong)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Message string `json:"message"`
	}{message})
}
