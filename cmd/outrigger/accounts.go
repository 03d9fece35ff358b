package main

import (
	"context"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// accounts is what commands do with users, groups and tokens: over REST, or with
// --local in the database itself.
type accounts interface {
	CreateUser(ctx context.Context, name string, password secret.Value) error
	Users(ctx context.Context) ([]user, error)
	SetPassword(ctx context.Context, name string, password secret.Value) error
	// DeleteUser deletes a user and gives, in sentences, what stopped with that.
	DeleteUser(ctx context.Context, name string) (stopped []string, err error)
	DisableUser(ctx context.Context, name string) error
	EnableUser(ctx context.Context, name string) error
	// RemoveSecondFactor removes the app, passkeys and recovery codes of a user.
	RemoveSecondFactor(ctx context.Context, name string) error
	Grant(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (grant, error)
	Revoke(ctx context.Context, name string, id int64) error
	Groups(ctx context.Context) ([]group, error)
	GrantGroup(ctx context.Context, name string, perm identity.Permission, at identity.Resource) (grant, error)
	RevokeGroup(ctx context.Context, name string, id int64) error
	// CreateToken makes a token of a user; "" is the signed-in user.
	CreateToken(ctx context.Context, user, name string, scope identity.Scope, expires time.Time) (newToken, error)
	Tokens(ctx context.Context, user string) ([]token, error)
	RevokeToken(ctx context.Context, id int64) error
}

// user and token are as REST writes them; commands print them so.
type user struct {
	Name              string    `json:"name"`
	Source            string    `json:"source"`
	CreatedAt         time.Time `json:"createdAt"`
	PasswordChangedAt time.Time `json:"passwordChangedAt"`
	InitialPassword   bool      `json:"initialPassword"`
	LastSignInAt      time.Time `json:"lastSignInAt,omitzero"`
	Enabled           bool      `json:"enabled"`
	DisabledAt        time.Time `json:"disabledAt,omitzero"`
	SecondFactor      factors   `json:"secondFactor"`
	Grants            []grant   `json:"grants"`
}

func (u user) state() string {
	if u.Enabled {
		return "enabled"
	}
	return "disabled"
}

// factors are what a user signs in with beside the password.
type factors struct {
	App      bool `json:"authenticatorApp"`
	Passkeys int  `json:"passkeys"`
	Recovery int  `json:"recoveryCodes"`
}

type token struct {
	ID        int64          `json:"id"`
	User      string         `json:"user"`
	Name      string         `json:"name"`
	Scope     identity.Scope `json:"scope"`
	CreatedAt time.Time      `json:"createdAt,omitzero"`
	ExpiresAt time.Time      `json:"expiresAt,omitzero"`
	UsedAt    time.Time      `json:"lastUsedAt,omitzero"`
}

// newToken is a token with its value, which is shown only once.
type newToken struct {
	token
	Plain string `json:"token"`
}

// accountFlags say where accounts are.
type accountFlags struct {
	clientFlags
	Code  string `help:"A code of your authenticator app, or a recovery code: for what a token alone is not enough for, which is granting, revoking, tokens of scope all, and removing second factors." placeholder:"CODE"`
	Local bool   `help:"Work on the database directly, while the server is stopped. The configuration says where it is."`
	configFlag
	JSON bool `help:"Print JSON."`
}

// with opens the accounts, has f use them, and closes them.
func (f accountFlags) with(ctx context.Context, s streams, use func(accounts) error) error {
	if f.Local {
		return f.withLocal(ctx, s, use)
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	c.code = f.Code
	return use(remoteAccounts{c})
}
