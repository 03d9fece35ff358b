// Package api is the REST endpoints of identity: users, groups, what is
// granted to them, tokens and sessions, under /rest/outrigger/1.0.
//
// It is a package of its own because rest knows identity: the endpoints need
// both.
package api

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// Where the lists are, below the base URL.
const (
	root         = "/rest/outrigger/1.0"
	UsersPath    = root + "/users"
	GroupsPath   = root + "/groups"
	TokensPath   = root + "/tokens"
	sessionsPath = root + "/sessions"
)

const tag = "accounts"

// endpoints answers from a Service.
type endpoints struct {
	identity    *identity.Service
	connections func() []string
}

// Routes adds the endpoints to the router. Permissions are granted for the
// connections that there are.
func Routes(r *rest.Router, s *identity.Service, connections func() []string) {
	e := endpoints{s, connections}
	e.registerUsers(r)
	e.registerUserStates(r)
	e.registerCredentials(r)
	e.registerGrants(r)
	e.registerGroups(r)
	e.registerGroupGrants(r)
	e.registerTokens(r)
	e.registerSessions(r)
}

// ofUser is a request about a user.
type ofUser struct {
	Name string `path:"name" json:"-" doc:"A user's name, in any case: ada; main:ada of a platform; oidc:ada of a provider." example:"ada"`
}

// self reports whether a name is that of who asks.
func self(ctx context.Context, name string) bool {
	p := identity.From(ctx)
	return p != nil && identity.SameName(p.Ref(), name)
}

// selfOr allows what is about who asks, and anything to a SYS_ADMIN.
func selfOr(ctx context.Context, name string) error {
	if self(ctx, name) {
		return nil
	}
	return identity.Require(ctx, identity.SysAdmin, identity.Resource{})
}

// owner is whom a request is about: the user who asks, or the one it names.
func owner(ctx context.Context, named string) (string, error) {
	if named == "" {
		return identity.From(ctx).Ref(), nil
	}
	return named, selfOr(ctx, named)
}
