package rest

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Access says who may use a route at all. What a handler does within it may
// need more, which it asks for with Require.
type Access uint8

const (
	SignedIn   Access = iota // any valid credentials
	Anyone                   // no authentication; credentials are ignored
	Monitoring               // who has ADMIN, and tokens of scope monitoring of any user
	Watchers                 // as SignedIn, and tokens of scope monitoring
	Builds                   // as SignedIn, and tokens of scope builds
	Admins                   // who has ADMIN
	SysAdmins                // who has SYS_ADMIN
	Backups                  // who has SYS_ADMIN, of tokens those of scope all and backup
)

// defaultMaxBody is what a request body may have unless its route says more:
// room for every resource but the uploads and webhooks.
const defaultMaxBody = 1 << 20

// Route is one method of one path.
type Route struct {
	Method string // GET answers HEAD too
	Path   string // below the base URL, with wildcards as net/http.ServeMux has them
	Access Access
	// Query are the parameters that the query of the URL may have; below /rest
	// others are 400. Add fills it in, and Conditional.
	Query []string
	// MaxBody is how many bytes a request body may have; 0 means 1 MiB. One of
	// more is an upload: of users who have signed in it may take as long as it
	// keeps the pace, see BeginUpload.
	MaxBody int64
	// Bare: the body may be left out.
	Bare bool
	// Conditional: what the route changes has an ETag, and the handler evaluates
	// If-Match. Other routes refuse a change of the version that it names.
	Conditional bool
	// XML: answers XML as well as JSON, by Accept.
	XML bool
	// Own: the handler chooses the media type of its answer (CSV, YAML, text),
	// and Accept counts for errors only.
	Own bool
	// Raw: the handler does everything itself, authentication included. Body
	// limit, error bodies, request id, log and metrics stay. For webhooks.
	Raw bool
}

// Handler answers a request, or returns why not. After an error nothing must
// have been written.
type Handler func(w http.ResponseWriter, r *http.Request) error

// admit reports whether p may use the route with the method.
func (rt *Route) admit(p *identity.Principal, method string) error {
	if !rt.inScope(p.Scope, method) {
		return fault.New(fault.Forbidden, "The scope %q of the token does not allow this. Use a token with another scope.", p.Scope)
	}
	switch rt.Access {
	case Monitoring:
		if p.Scope == identity.Monitoring {
			return nil
		}
		return p.Require(identity.Admin, identity.Resource{})
	case Admins:
		return p.Require(identity.Admin, identity.Resource{})
	case SysAdmins, Backups:
		return p.Require(identity.SysAdmin, identity.Resource{})
	}
	return nil
}

func (rt *Route) inScope(s identity.Scope, method string) bool {
	switch s {
	case identity.All:
		return true
	case identity.Read:
		return rt.Access != Backups && (method == http.MethodGet || method == http.MethodHead)
	case identity.Monitoring:
		return rt.Access == Monitoring || rt.Access == Watchers
	case identity.Backup:
		return rt.Access == Backups
	case identity.Builds:
		return rt.Access == Builds
	}
	return false
}
