package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// Account is one as the API writes it. Both ids stay when names change; an account
// that is no person has no ID.
type Account struct {
	ID          string `json:"account_id"` // in all of the vendor's products
	UUID        string `json:"uuid"`       // in braces
	DisplayName string `json:"display_name"`
	Nickname    string `json:"nickname"`
}

// User returns the account that a token is of.
func (cl *Client) User(ctx context.Context, c *notify.Connection, token secret.Value) (Account, error) {
	var a Account
	if err := cl.get(ctx, c, token, "/user", nil, &a); err != nil {
		return Account{}, err
	}
	if a.UUID == "" {
		return Account{}, restclient.NotThePlatform(c.Name)
	}
	return a, nil
}

// quote writes a text as the platform's query language takes it.
var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Administers reports whether the account that a token is of administers a
// repository, through groups and its workspace too. A repository or a workspace
// that it cannot see is one that it does not administer.
func (cl *Client) Administers(
	ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef,
) (administers bool, err error) {
	type permission struct {
		Permission string
		Repository struct {
			FullName string `json:"full_name"`
		}
	}
	name := at.ProjectKey + "/" + at.RepositoryKey
	path := "/user/workspaces/" + url.PathEscape(at.ProjectKey) + "/permissions/repositories"
	query := url.Values{"q": {`repository.full_name="` + quote.Replace(name) + `"`}}
	err = list(ctx, cl, c, token, path, query, func(p permission) (enough bool, err error) {
		administers = notify.Fold(p.Repository.FullName) == notify.Fold(name) && p.Permission == "admin"
		return administers, nil
	})
	r := restclient.RefusalOf(err)
	if r != nil && (r.Status == http.StatusNotFound || r.Status == http.StatusForbidden && r.Name != scopeMissing) {
		return false, nil
	}
	return administers, err
}
