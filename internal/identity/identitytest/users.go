// Package identitytest has users for tests of what asks who a user is, the
// router, the console and the relay, and the clock of tests that take time.
package identitytest

import (
	"context"
	"strings"

	"outrigger/internal/identity"
)

// Users are principals by user name. Every password of theirs is right, and the
// name is also their session and a token; with a scope behind it,
// "ann:monitoring", the token has only that.
type Users map[string]*identity.Principal

// With makes users of names and grants, who sign in with everything that they
// may.
func With(grants map[string][]identity.Grant) Users {
	users := make(Users, len(grants))
	for name, g := range grants {
		users[name] = &identity.Principal{Name: name, Source: identity.Local, Scope: identity.All, Grants: g}
	}
	return users
}

// Everybody are a user of each kind, and "reader": root by a token of scope read.
func Everybody() Users {
	users := With(map[string][]identity.Grant{
		"root":    {{Permission: identity.SysAdmin}},
		"ann":     {{Permission: identity.SysAdmin}},
		"admin":   {{Permission: identity.Admin}},
		"project": {{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL"}}},
		"repo":    {{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}}},
		"nobody":  nil,
	})
	reader := *users["root"]
	reader.Scope = identity.Read
	users["reader"] = &reader
	return users
}

// Basic returns the user of that name.
func (u Users) Basic(_ context.Context, user, _, _ string) (*identity.Principal, error) {
	if u[user] == nil {
		return nil, identity.ErrUnauthenticated()
	}
	return u[user], nil
}

// Bearer returns the user whose token it is.
func (u Users) Bearer(ctx context.Context, token string) (*identity.Principal, error) {
	name, scope, narrowed := strings.Cut(token, ":")
	p, err := u.Basic(ctx, name, "", "")
	if err != nil || !narrowed {
		return p, err
	}
	with := *p
	with.Scope = identity.Scope(scope)
	return &with, nil
}

// Session returns the user whose session it is.
func (u Users) Session(ctx context.Context, session string) (*identity.Principal, error) {
	return u.Basic(ctx, session, "", "")
}

// SignIn creates a session for the user of that name.
func (u Users) SignIn(ctx context.Context, user, password, addr string) (string, *identity.Principal, error) {
	p, err := u.Basic(ctx, user, password, addr)
	return user, p, err
}

// SignOut does nothing.
func (u Users) SignOut(context.Context, string) error { return nil }

// FirstStepsHidden answers that the first steps are shown.
func (Users) FirstStepsHidden(context.Context) (bool, error) { return false, nil }

// HideFirstSteps does nothing.
func (Users) HideFirstSteps(context.Context, bool) error { return nil }
