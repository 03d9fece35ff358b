package main

import (
	"context"
	"time"

	"outrigger/internal/accounts/api"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// accounts is what commands do with users, groups and tokens: over REST, or with
// --local in the database itself.
type accounts interface {
	CreateUser(ctx context.Context, name string, password secret.Value) error
	Users(ctx context.Context) ([]api.User, error)
	// SetPassword changes a password, and revokes the user's tokens where that is wanted.
	SetPassword(ctx context.Context, name string, password secret.Value, endTokens bool) error
	// DeleteUser deletes a user and gives, in sentences, what stopped with that.
	DeleteUser(ctx context.Context, name string) (stopped []string, err error)
	DisableUser(ctx context.Context, name string) error
	// EnableUser ends the user's tokens but those of the ids in keep.
	EnableUser(ctx context.Context, name string, keep []int64) error
	// RemoveSecondFactor removes the app, passkeys and recovery codes of a user.
	RemoveSecondFactor(ctx context.Context, name string) error
	Grant(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (identity.Grant, error)
	Revoke(ctx context.Context, name string, id int64) error
	Groups(ctx context.Context) ([]identity.Group, error)
	GrantGroup(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (identity.Grant, error)
	RevokeGroup(ctx context.Context, name string, id int64) error
	// CreateToken makes a token of a user; "" is the signed-in user.
	CreateToken(ctx context.Context, user, name string, scope identity.Scope, expires time.Time) (api.CreatedToken, error)
	Tokens(ctx context.Context, user string) ([]identity.Token, error)
	RevokeToken(ctx context.Context, id int64) error
}

// accountFlags say where accounts are.
type accountFlags struct {
	clientFlags
	codeFlag
	Local bool `help:"Work on the database directly, while the server is stopped. The configuration says where it is."`
	configFlag
	JSON bool `help:"Print JSON."`
}

// with opens the accounts, has f use them, and closes them.
func (f accountFlags) with(ctx context.Context, s streams, use func(context.Context, accounts) error) error {
	if f.Local {
		return f.withLocal(ctx, s, use)
	}
	c, err := f.confirming(f.clientFlags)
	if err != nil {
		return err
	}
	return use(ctx, remoteAccounts{c})
}
