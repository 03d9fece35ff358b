package console

import (
	"net/http"

	"outrigger/internal/identity"
)

// Access says who may ask for a page; p is nil for visitors who are
// not signed in: they are sent to sign in. Refused users get a 403.
type Access func(r *http.Request, p *identity.Principal) bool

// Anyone needs no sign-in.
func Anyone(*http.Request, *identity.Principal) bool { return true }

// SignedIn allows every signed-in user; a handler that shows less to some asks
// identity.From itself.
func SignedIn(_ *http.Request, p *identity.Principal) bool { return p != nil }

// Needs allows users who have the permission everywhere.
func Needs(perm identity.Permission) Access {
	return func(_ *http.Request, p *identity.Principal) bool { return p.May(perm, identity.Resource{}) }
}
