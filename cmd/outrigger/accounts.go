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
	// SetPassword changes a password, and revokes the user's tokens where that is wanted.
	SetPassword(ctx context.Context, name string, password secret.Value, endTokens bool) error
	// DeleteUser deletes a user and gives, in sentences, what stopped with that.
	DeleteUser(ctx context.Context, name string) (stopped []string, err error)
	DisableUser(ctx context.Context, name string) error
	// EnableUser ends the user's tokens but those of the ids in keep.
	EnableUser(ctx context.Context, name string, keep []int64) error
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
	Paused            bool      `json:"paused,omitempty"`
	PausesAt          time.Time `json:"pausesAt,omitzero"`
	SecondFactor      factors   `json:"secondFactor"`
	Grants            []grant   `json:"grants"`
}

func (u user) state() string {
	switch {
	case !u.Enabled:
		return "disabled"
	case u.Paused:
		return "paused until the next sign-in"
	}
	return "enabled"
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
	Rests     time.Time      `json:"restsSince,omitzero"`
	Paused    time.Time      `json:"pausedSince,omitzero"`
}

// newToken is a token with its value, which is shown only once.
type newToken struct {
	token
	Plain string `json:"token"`
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
