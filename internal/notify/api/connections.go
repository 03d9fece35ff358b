package api

import (
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

const connectionsPath = "/rest/outrigger/1.0/connections"

// connectionJSON is a connection as the API writes it, and reads it: its
// read-only members may be sent back and are ignored.
type connectionJSON struct {
	Name              string     `json:"name"`
	Version           int64      `json:"version,omitempty"`
	Kind              string     `json:"kind"`
	BaseURL           string     `json:"baseUrl"`
	User              string     `json:"user,omitempty"`
	Token             string     `json:"token,omitempty"` // never written
	HasToken          bool       `json:"hasToken"`
	ManageWebhooks    bool       `json:"manageWebhooks,omitempty"`
	OAuthClientID     string     `json:"oauthClientId,omitempty"`
	OAuthClientSecret string     `json:"oauthClientSecret,omitempty"` // never written
	HasOAuthSecret    bool       `json:"hasOauthClientSecret,omitempty"`
	ReadOnly          bool       `json:"readOnly"`
	WebhookURL        string     `json:"webhookUrl,omitempty"`
	WebhookSecret     string     `json:"webhookSecret,omitempty"` // once
	CreatedBy         string     `json:"createdBy,omitempty"`
	CreatedAt         *time.Time `json:"createdAt,omitempty"`
	UpdatedBy         string     `json:"updatedBy,omitempty"`
	UpdatedAt         *time.Time `json:"updatedAt,omitempty"`
}

// ofConnection is a request about a connection.
type ofConnection struct {
	Connection string `path:"name" json:"-" doc:"The connection's name." example:"main"`
}

type pageOfConnection struct {
	ofConnection
	Page rest.Page
}

func (a *API) registerConnections(r *rest.Router) {
	r.Handle(rest.Route{Method: "PUT", Path: connectionsPath + "/{name}", Access: rest.SysAdmins, Conditional: true}, a.saveConnection)
	r.Handle(rest.Route{Method: "DELETE", Path: connectionsPath + "/{name}", Access: rest.SysAdmins, Conditional: true}, a.deleteConnection)
	for _, route := range []struct {
		method, path string
		access       rest.Access
		handle       rest.Handler
		query        []string
	}{
		{"GET", connectionsPath, rest.SysAdmins, a.listConnections, rest.Paged()},
		{"POST", connectionsPath, rest.SysAdmins, a.createConnection, nil},
		{"GET", connectionsPath + "/{name}", rest.SysAdmins, a.connection, nil},
		{"POST", connectionsPath + "/{name}/test", rest.SysAdmins, a.testConnection, nil},
	} {
		r.Handle(rest.Route{Method: route.method, Path: route.path, Access: route.access, Query: route.query}, route.handle)
	}
	a.registerHooks(r)
	a.registerRenames(r)
}

func (a *API) listConnections(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	all, err := a.Hooks.Connections(r.Context())
	if err != nil {
		return err
	}
	name := func(c notify.Connection) string { return c.Name }
	list := rest.NewList(page, pageAfter(page, all, name), name, func(c notify.Connection) connectionJSON { return connectionOf(r, &c) })
	return rest.WriteJSON(w, r, http.StatusOK, list)
}

// pageAfter returns a page, and one more, of a list that is short enough to be
// held and sorted by key.
func pageAfter[T any](page rest.Page, all []T, key func(T) string) []T {
	i := 0
	for page.After != "" && i < len(all) && key(all[i]) <= page.After {
		i++
	}
	return all[i:min(len(all), i+page.Limit+1)]
}

func (a *API) connection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.Hooks.Connection(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeConnection(w, r, http.StatusOK, c, secret.Value{})
}

func (a *API) createConnection(w http.ResponseWriter, r *http.Request) error {
	in, wrong, err := readConnection(r)
	if err != nil {
		return err
	}
	c, key, err := a.Hooks.CreateConnection(r.Context(), in, wrong)
	if err != nil {
		return err
	}
	w.Header().Set("Location", rest.Link(r.Context(), connectionsPath+"/"+c.Name))
	return writeConnection(w, r, http.StatusCreated, &c, key)
}

// writeConnection answers a connection; key is the secret of a new one's own hook.
func writeConnection(w http.ResponseWriter, r *http.Request, status int, c *notify.Connection, key secret.Value) error {
	out := connectionOf(r, c)
	out.WebhookSecret = key.Reveal()
	if !c.File {
		w.Header().Set("ETag", connectionETag(c))
	}
	return rest.WriteJSON(w, r, status, out)
}

func (a *API) saveConnection(w http.ResponseWriter, r *http.Request) error {
	in, wrong, err := readConnection(r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if in.Name != "" && in.Name != name {
		wrong.Add("name", "The name of a connection is fixed: it is %s.", name)
	}
	in.Name = name
	if err := a.unchangedConnection(r.Context(), rest.MatchOf(r), &in); err != nil {
		return err
	}
	c, err := a.Hooks.SaveConnection(r.Context(), in, wrong)
	if err != nil {
		return a.refusedConnection(r.Context(), rest.MatchOf(r), name, err)
	}
	return writeConnection(w, r, http.StatusOK, &c, secret.Value{})
}

func (a *API) deleteConnection(w http.ResponseWriter, r *http.Request) error {
	at := notify.Connection{Name: r.PathValue("name")}
	if err := a.unchangedConnection(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	if err := a.Hooks.DeleteConnection(r.Context(), at.Name, at.Version); err != nil {
		return a.refusedConnection(r.Context(), rest.MatchOf(r), at.Name, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) testConnection(w http.ResponseWriter, r *http.Request) error {
	platform, err := a.Hooks.Test(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Platform string `json:"platform"`
	}{platform})
}

// readConnection reads a connection, and notes every member that is wrong in
// itself.
func readConnection(r *http.Request) (_ notify.Connection, wrong fault.Fields, _ error) {
	var in connectionJSON
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return notify.Connection{}, nil, err
	}
	return notify.Connection{
		Name: in.Name, Version: in.Version, Kind: rest.Spelled(in.Kind, "bitbucket-dc", notify.KindBitbucketCloud), BaseURL: in.BaseURL, User: in.User, Token: secret.New(in.Token),
		ManageWebhooks: in.ManageWebhooks, OAuthClientID: in.OAuthClientID, OAuthClientSecret: secret.New(in.OAuthClientSecret),
	}, wrong, nil
}

func connectionOf(r *http.Request, c *notify.Connection) connectionJSON {
	return connectionJSON{
		Name: c.Name, Version: c.Version, Kind: c.Kind, BaseURL: c.BaseURL, User: c.User, HasToken: !c.Token.IsZero(), ReadOnly: c.File,
		ManageWebhooks: c.ManageWebhooks, OAuthClientID: c.OAuthClientID, HasOAuthSecret: !c.OAuthClientSecret.IsZero(),
		WebhookURL: rest.Link(r.Context(), notify.HookPath(c.Name, "")),
		CreatedBy:  c.CreatedBy, CreatedAt: timePointer(c.CreatedAt), UpdatedBy: c.UpdatedBy, UpdatedAt: timePointer(c.UpdatedAt),
	}
}
