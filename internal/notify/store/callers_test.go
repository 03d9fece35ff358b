package store

import (
	"context"
	"testing"

	"outrigger/internal/identity"
)

// asAdmin is a request of an ADMIN.
func asAdmin(t *testing.T) context.Context {
	return identity.With(t.Context(), &identity.Principal{Name: "ada", Grants: []identity.Grant{{Permission: identity.Admin}}})
}

// as is a request of a user with these grants.
func as(t *testing.T, grants ...identity.Grant) context.Context {
	return identity.With(t.Context(), &identity.Principal{Name: "who", Source: "local", Grants: grants})
}

func administers(t *testing.T, repository string) context.Context {
	return as(t, identity.Grant{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: repository}})
}
