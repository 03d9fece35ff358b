package api

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const authorizationsPath = "/rest/mtbs/1.0/cloud/authorizations"

type ofCloud struct {
	Connection string `query:"connection" required:"true" doc:"The connection's name." example:"cloud"`
}

type ofAuthorization struct {
	ID int64 `query:"id" required:"true" min:"1" doc:"The authorisation." example:"1"`
}

type consentPage struct {
	Location string `json:"location" doc:"The platform's page."`
}

func (a *API) registerAuthorizations(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: authorizationsPath}, rest.Words{
		ID: "listAuthorizations", Tag: "cloud", Text: "Their tokens are in no answer.",
		Summary: "Lists the accounts of cloud platforms that you authorised, an administrator all of them.",
		Answer:  "A page of accounts, in the order in which they were authorised first.",
	}, a.listAuthorizations, rest.Example[paged, rest.List[notify.Authorization]]{
		Name: "page", Out: &rest.List[notify.Authorization]{Items: []notify.Authorization{{
			ID: 1, Connection: "cloud", AccountName: "Ada Byron", AccountID: "712020:ada", AuthorizedBy: "ada", AuthorizedAt: exampleTime,
			User: identity.UserKnown, State: notify.AuthorizationActive, StateAt: exampleTime, RefreshedAt: exampleTime, Rules: 2,
		}}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: authorizationsPath}, rest.Words{
		ID: "beginAuthorization", Tag: "cloud", Summary: "Begins to authorise an account of a cloud platform.", Answer: "Where to go on.",
		Text: "Open `location` in a browser within 10 minutes: the platform asks whether Outrigger may use the account, and sends the " +
			"browser back to `/oauth/{connection}`. Where this was asked for in a session of the console, the browser must be signed in " +
			"by it; else by the same user. Needs any permission on the connection, which needs an OAuth client.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests},
	}, func(ctx context.Context, in ofCloud) (consentPage, error) {
		location, err := a.Authorizations.Begin(ctx, in.Connection, notify.AccountsPath)
		return consentPage{location}, err
	}, rest.Example[ofCloud, consentPage]{Name: "fresh", Err: fault.New(fault.NotFound, `There is no connection "cloud".`)})
	rest.Add(r, rest.Route{Method: "DELETE", Path: authorizationsPath}, rest.Words{
		ID: "revokeAuthorization", Tag: "cloud", Summary: "Revokes an account.", Answer: "It is revoked.",
		Text: "Its tokens are deleted, and the rules that belong to it take no events until it is authorised again. An account of " +
			"another user takes `ADMIN`.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, rest.Done(a.revokeAuthorization),
		rest.Example[ofAuthorization, rest.None]{Name: "fresh", Err: fault.New(fault.NotFound, "There is no authorisation 1.")})
}

func (a *API) listAuthorizations(ctx context.Context, in paged) (list rest.List[notify.Authorization], err error) {
	after, err := in.Page.AfterID()
	if err != nil {
		return list, err
	}
	all, err := a.Authorizations.List(ctx, after, in.Page.Limit+1)
	return rest.ListOf(in.Page, all, err, func(a notify.Authorization) string { return strconv.FormatInt(a.ID, 10) })
}

func (a *API) revokeAuthorization(ctx context.Context, in ofAuthorization) error {
	if in.ID < 1 {
		return fault.InvalidField("id", "Give the id of an authorisation as a whole number.")
	}
	return a.Authorizations.Revoke(ctx, in.ID)
}
