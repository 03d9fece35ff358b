// Package accounts is the REST endpoints of identity: users, groups, what is
// granted to them, tokens and sessions, under /rest/outrigger/1.0.
//
// It is a package of its own because rest knows identity: the endpoints need
// both.
package accounts

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

const root = "/rest/outrigger/1.0"

// endpoints answers from a Service.
type endpoints struct {
	identity    *identity.Service
	connections func() []string
}

// Routes adds the endpoints to the router. Permissions are granted for the
// connections that there are.
func Routes(r *rest.Router, s *identity.Service, connections func() []string) {
	e := endpoints{s, connections}
	for _, route := range []struct {
		method, path string
		access       rest.Access
		handle       rest.Handler
		query        []string
	}{
		{"GET", "/users", rest.SysAdmins, e.listUsers, rest.Paged()},
		{"POST", "/users", rest.SysAdmins, e.createUser, nil},
		{"GET", "/users/{name}", rest.SignedIn, e.user, nil},
		{"DELETE", "/users/{name}", rest.SysAdmins, e.deleteUser, nil},
		{"POST", "/users/{name}/disable", rest.SysAdmins, e.disableUser, nil},
		{"POST", "/users/{name}/enable", rest.SysAdmins, e.enableUser, nil},
		{"PUT", "/users/{name}/password", rest.SignedIn, e.setPassword, nil},
		{"DELETE", "/users/{name}/second-factor", rest.SysAdmins, e.removeFactors, nil},
		{"GET", "/users/{name}/grants", rest.SignedIn, e.listGrants, nil},
		{"POST", "/users/{name}/grants", rest.SysAdmins, e.grant, nil},
		{"DELETE", "/users/{name}/grants/{id}", rest.SysAdmins, e.revokeGrant, nil},
		{"GET", "/groups", rest.SysAdmins, e.listGroups, rest.Paged()},
		{"GET", "/groups/{group}", rest.SysAdmins, e.group, nil},
		{"GET", "/groups/{group}/users", rest.SysAdmins, e.listMembers, rest.Paged()},
		{"GET", "/groups/{group}/grants", rest.SysAdmins, e.listGroupGrants, nil},
		{"POST", "/groups/{group}/grants", rest.SysAdmins, e.grantGroup, nil},
		{"DELETE", "/groups/{group}/grants/{id}", rest.SysAdmins, e.revokeGroup, nil},
		{"GET", "/tokens", rest.SignedIn, e.listTokens, rest.Paged("user")},
		{"POST", "/tokens", rest.SignedIn, e.createToken, nil},
		{"DELETE", "/tokens/{id}", rest.SignedIn, e.revokeToken, nil},
		{"GET", "/sessions", rest.SignedIn, e.listSessions, rest.Paged("user")},
		{"DELETE", "/sessions", rest.SignedIn, e.endSessions, []string{"user"}},
		{"DELETE", "/sessions/{id}", rest.SignedIn, e.endSession, nil},
	} {
		r.Handle(rest.Route{Method: route.method, Path: root + route.path, Access: route.access, Query: route.query}, route.handle)
	}
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

// pathID reads an id from the path: false for what cannot be one.
func pathID(r *http.Request) (int64, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	return id, err == nil
}

// pageByID reads the page of a list that goes by id.
func pageByID(r *http.Request) (p rest.Page, after int64, err error) {
	if p, err = rest.ReadPage(r); err == nil {
		after, err = p.AfterID()
	}
	return p, after, err
}

func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
