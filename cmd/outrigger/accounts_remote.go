package main

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"outrigger/internal/accounts/api"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// remoteAccounts asks a server.
type remoteAccounts struct{ *client }

func userPath(name, rest string) string { return api.UsersPath + "/" + url.PathEscape(name) + rest }

func (a remoteAccounts) CreateUser(ctx context.Context, name string, password secret.Value) error {
	in := map[string]string{"name": name, "password": password.Reveal()}
	return a.do(ctx, "POST", api.UsersPath, in, nil)
}

func (a remoteAccounts) Users(ctx context.Context) ([]api.User, error) {
	return list[api.User](ctx, a.client, api.UsersPath, url.Values{})
}

// SetPassword shows the present password as well where it is one's own, and goes
// on with the new one.
func (a remoteAccounts) SetPassword(ctx context.Context, name string, password secret.Value, endTokens bool) error {
	in := map[string]any{"password": password.Reveal(), "endTokens": endTokens}
	own := identity.SameName(name, a.user)
	if own {
		in["currentPassword"] = a.password.Reveal()
	}
	err := a.do(ctx, "PUT", userPath(name, "/password"), in, nil)
	if err == nil && own {
		a.password = password
	}
	return err
}

func (a remoteAccounts) DeleteUser(ctx context.Context, name string) ([]string, error) {
	var user api.User
	if err := a.do(ctx, "GET", userPath(name, ""), nil, &user); err != nil {
		return nil, err
	}
	return user.Dependents, a.do(ctx, "DELETE", userPath(name, ""), nil, nil)
}

func (a remoteAccounts) DisableUser(ctx context.Context, name string) error {
	return a.do(ctx, "POST", userPath(name, "/disable"), nil, nil)
}

func (a remoteAccounts) EnableUser(ctx context.Context, name string, keep []int64) error {
	if len(keep) == 0 {
		return a.do(ctx, "POST", userPath(name, "/enable"), nil, nil)
	}
	return a.do(ctx, "POST", userPath(name, "/enable"), api.EnableUser{KeepTokens: keep}, nil)
}

func (a remoteAccounts) RemoveSecondFactor(ctx context.Context, name string) error {
	return a.do(ctx, "DELETE", userPath(name, "/second-factor"), nil, nil)
}

func (a remoteAccounts) Grant(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (identity.Grant, error) {
	return a.grantAt(ctx, userPath(name, "/grants"), api.NewGrant{Permission: perm, Resource: at})
}

// grantAt posts a grant to the list of a user's or a group's grants.
func (a remoteAccounts) grantAt(ctx context.Context, path string, in api.NewGrant) (g identity.Grant, err error) {
	err = a.do(ctx, "POST", path, in, &g)
	return g, err
}

func (a remoteAccounts) Revoke(ctx context.Context, name string, id int64) error {
	return a.do(ctx, "DELETE", userPath(name, "/grants/"+strconv.FormatInt(id, 10)), nil, nil)
}

func (a remoteAccounts) CreateToken(
	ctx context.Context, user, name string, scope identity.Scope, expires time.Time,
) (t api.CreatedToken, err error) {
	err = a.do(ctx, "POST", api.TokensPath, api.NewToken{User: user, Name: name, Scope: scope, ExpiresAt: expires}, &t)
	return t, err
}

func (a remoteAccounts) Tokens(ctx context.Context, user string) ([]identity.Token, error) {
	query := url.Values{}
	if user != "" {
		query.Set("user", user)
	}
	return list[identity.Token](ctx, a.client, api.TokensPath, query)
}

func (a remoteAccounts) RevokeToken(ctx context.Context, id int64) error {
	return a.do(ctx, "DELETE", api.TokensPath+"/"+strconv.FormatInt(id, 10), nil, nil)
}
