package api

import (
	"context"

	"outrigger/internal/identity"
)

// people are who asks: whoever shows the token admin may everything, reader
// may read what admin may, and ann nothing.
type people struct{}

func person(name string, scope identity.Scope, grants ...identity.Grant) *identity.Principal {
	return &identity.Principal{UserID: 1, Name: name, Source: identity.Local, Scope: scope, Grants: grants}
}

// Basic knows no user.
func (people) Basic(context.Context, string, string, string) (*identity.Principal, error) {
	return nil, identity.ErrUnauthenticated()
}

// Bearer knows the tokens admin, reader and ann.
func (people) Bearer(_ context.Context, token string) (*identity.Principal, error) {
	switch everything := (identity.Grant{Permission: identity.SysAdmin}); token {
	case "admin":
		return person("root", identity.All, everything), nil
	case "reader":
		return person("root", identity.Read, everything), nil
	case "ann":
		return person("ann", identity.All), nil
	}
	return nil, identity.ErrUnauthenticated()
}

// Session knows the session admin.
func (people) Session(_ context.Context, session string) (*identity.Principal, error) {
	return people{}.Bearer(context.Background(), session)
}

// SignIn and SignOut are the rest of what the console asks for.
func (p people) SignIn(ctx context.Context, user, _, _ string) (string, *identity.Principal, error) {
	who, err := p.Bearer(ctx, user)
	return user, who, err
}

// SignOut does nothing.
func (people) SignOut(context.Context, string) error { return nil }
