package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

const (
	path              = "/rest/outrigger/1.0/audit"
	notificationsPath = "/rest/mtbs/1.0/configuration/audit"
)

// API answers from the database.
type API struct{ DB *db.DB }

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: path, Access: rest.SignedIn, Query: rest.Paged("who", "area", "action", "object", "since", "until")}, a.list)
	r.Handle(rest.Route{Method: "GET", Path: path + "/export", Access: rest.SignedIn, Own: true, Query: []string{"who", "area", "action", "object", "since", "until"}}, a.export)
	r.Handle(rest.Route{Method: "GET", Path: notificationsPath, Access: rest.SignedIn, Query: rest.Paged("who", "action", "object", "since", "until")}, a.listNotifications)
}

// entryJSON is an entry as the API lists it.
type entryJSON struct {
	ID            int64             `json:"id"`
	At            time.Time         `json:"at"`
	Who           string            `json:"who"`
	Source        string            `json:"source,omitempty"`
	Address       string            `json:"address,omitempty"`
	RequestID     string            `json:"requestId,omitempty"`
	Area          string            `json:"area"`
	Action        string            `json:"action"`
	Object        string            `json:"object"`
	ObjectID      string            `json:"objectId,omitempty"`
	ObjectName    string            `json:"objectName,omitempty"`
	Connection    string            `json:"connection,omitempty"`
	ProjectKey    string            `json:"projectKey,omitempty"`
	RepositoryKey string            `json:"repositoryKey,omitempty"`
	Before        map[string]string `json:"before,omitempty"`
	After         map[string]string `json:"after,omitempty"`
}

func (a *API) list(w http.ResponseWriter, r *http.Request) error { return a.listOf(w, r, "") }

func (a *API) listNotifications(w http.ResponseWriter, r *http.Request) error {
	return a.listOf(w, r, "notifications")
}

// listOf answers a page; of one area where that is given.
func (a *API) listOf(w http.ResponseWriter, r *http.Request, area string) error {
	page, wrongPage := rest.ReadPage(r)
	f, wrongFilter := readFilter(r.URL.Query().Get)
	before, wrongAfter := page.AfterID()
	if err := fault.Every(wrongPage, wrongFilter, wrongAfter); err != nil {
		return err
	}
	if area != "" {
		f.Area = area
	}
	f.Limit, f.Before = page.Limit+1, before
	found, err := a.Entries(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(e audit.Stored) string { return strconv.FormatInt(e.ID, 10) }, entryOf))
}

// Entries gives the entries that the user of ctx may see, the newest first.
func (a *API) Entries(ctx context.Context, f audit.Filter) (found []audit.Stored, err error) {
	visible := visibleTo(identity.From(ctx))
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		found, err = audit.List(ctx, tx, visible, f)
		return err
	})
	return found, err
}

// readFilter reads the filters of a query. Times are RFC 3339.
func readFilter(get func(string) string) (audit.Filter, error) {
	var wrong fault.Fields
	at := func(name string) time.Time {
		text := get(name)
		if text == "" {
			return time.Time{}
		}
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			wrong.Add(name, "%q is not a time; write it as in 2026-03-01T00:00:00Z.", text)
		}
		return t
	}
	f := audit.Filter{
		Who: get("who"), Area: get("area"), Action: get("action"), Object: get("object"), Since: at("since"), Until: at("until"),
	}
	return f, wrong.Err()
}

func entryOf(e audit.Stored) entryJSON {
	return entryJSON{
		ID: e.ID, At: e.At, Who: e.Who, Source: e.Source, Address: e.Address, RequestID: e.RequestID,
		Area: e.Area, Action: e.Action, Object: e.Object, ObjectID: e.ObjectID, ObjectName: e.ObjectName,
		Connection: e.Connection, ProjectKey: e.Project, RepositoryKey: e.Repository, Before: e.Before, After: e.After,
	}
}
