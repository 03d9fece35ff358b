package mailqueuetest

import (
	"context"
	"strings"

	"outrigger/internal/identity"
)

// Users are user names with their grants; every password is right. A token is a
// user name with a scope: "monitor:monitoring".
type Users map[string][]identity.Grant

// Everybody are the users of tests.
var Everybody = Users{
	"root":   {{Permission: identity.SysAdmin}},
	"admin":  {{Permission: identity.Admin}},
	"repo":   {{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}}},
	"nobody": nil,
}

func (p Users) Basic(_ context.Context, user, _, _ string) (*identity.Principal, error) {
	grants, ok := p[user]
	if !ok {
		return nil, identity.ErrUnauthenticated()
	}
	return &identity.Principal{Name: user, Source: identity.Local, Scope: identity.All, Grants: grants}, nil
}

func (p Users) Bearer(_ context.Context, token string) (*identity.Principal, error) {
	user, scope, _ := strings.Cut(token, ":")
	return &identity.Principal{Name: user, Source: identity.Local, Scope: identity.Scope(scope), Grants: p[user]}, nil
}

func (p Users) Session(context.Context, string) (*identity.Principal, error) {
	return nil, identity.ErrUnauthenticated()
}
