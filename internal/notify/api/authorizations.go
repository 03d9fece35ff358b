package api

import (
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const authorizationsPath = "/rest/mtbs/1.0/cloud/authorizations"

// authorizationJSON is an account of a cloud platform that a user authorised.
type authorizationJSON struct {
	ID           int64                     `json:"id"`
	Connection   string                    `json:"connection"`
	Account      string                    `json:"account"`
	AccountID    string                    `json:"accountId"`
	AuthorizedBy string                    `json:"authorizedBy"`
	AuthorizedAt time.Time                 `json:"authorizedAt"`
	UserState    identity.UserState        `json:"userState"`
	State        notify.AuthorizationState `json:"state"`
	StateSince   time.Time                 `json:"stateSince"`
	Reason       string                    `json:"reason,omitempty"`
	RefreshedAt  *time.Time                `json:"refreshedAt,omitempty"`
	Rules        int                       `json:"rules"`
}

func authorizationOut(a notify.Authorization) authorizationJSON {
	return authorizationJSON{
		ID: a.ID, Connection: a.Connection, Account: a.AccountName, AccountID: a.AccountID, AuthorizedBy: a.AuthorizedBy, AuthorizedAt: a.AuthorizedAt.UTC(), UserState: a.User,
		State: a.State, StateSince: a.StateAt.UTC(), Reason: a.Reason, RefreshedAt: timePointer(a.RefreshedAt), Rules: a.Rules,
	}
}

func (a *API) registerAuthorizations(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: authorizationsPath, Query: rest.Paged()}, a.listAuthorizations)
	r.Handle(rest.Route{Method: "POST", Path: authorizationsPath, Query: []string{"connection"}}, a.beginAuthorization)
	r.Handle(rest.Route{Method: "DELETE", Path: authorizationsPath, Query: []string{"id"}}, a.revokeAuthorization)
}

func (a *API) listAuthorizations(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	after, err := page.AfterID()
	if err != nil {
		return err
	}
	all, err := a.Authorizations.List(r.Context(), after, page.Limit+1)
	if err != nil {
		return err
	}
	list := rest.NewList(page, all, func(a notify.Authorization) string { return strconv.FormatInt(a.ID, 10) }, authorizationOut)
	return rest.WriteJSON(w, r, http.StatusOK, list)
}

func (a *API) beginAuthorization(w http.ResponseWriter, r *http.Request) error {
	location, err := a.Authorizations.Begin(r.Context(), r.URL.Query().Get("connection"), notify.AccountsPath)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Location string `json:"location"`
	}{location})
}

func (a *API) revokeAuthorization(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id < 1 {
		return fault.InvalidField("id", "Give the id of an authorisation as a whole number.")
	}
	if err := a.Authorizations.Revoke(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
