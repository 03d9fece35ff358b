package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// signInByHeader says until when the user of a token has to sign in again, where the
// token is refused soon for want of that.
const signInByHeader = "Outrigger-Sign-In-By"

// endpoint is one path and what its methods do.
type endpoint struct {
	router   *Router
	methods  map[string]method
	suffixed bool // the path ends in .json or .xml, which decides the format
	suffix   format
}

type method struct {
	route  *Route
	handle Handler
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.endpoint = e
	m, ok := e.methods[r.Method]
	if !ok {
		allowed := slices.Sorted(maps.Keys(e.methods))
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		WriteError(w, r, errMethod(r.Method, allowed))
		return
	}
	x.route = m.route
	if !m.route.Raw && strings.HasPrefix(m.route.Path, "/rest/") {
		if err := refuseCredentials(r); err != nil {
			WriteError(w, r, err)
			return
		}
	}
	if err := e.serve(x, r, m); err != nil {
		WriteError(w, r, err)
	}
}

func (e *endpoint) serve(x *exchange, r *http.Request, m method) error {
	if m.route.Access != Anyone && !m.route.Raw {
		p, err := e.router.authenticate(withCode(r))
		if err != nil {
			return err
		}
		x.caller.Principal = p
		if by := p.SignInBy(); !by.IsZero() {
			x.Header().Set(signInByHeader, by.UTC().Format(time.RFC3339))
		}
		if err := m.route.admit(p, r.Method); err != nil {
			return err
		}
		if m.route.MaxBody > defaultMaxBody {
			BeginUpload(r)
		}
	}
	if err := e.acceptable(r, m.route); err != nil {
		return err
	}
	if err := checkQuery(r, m.route); err != nil {
		return err
	}
	if err := m.route.checkIfMatch(r); err != nil {
		return err
	}
	if r.ContentLength > m.route.MaxBody {
		return errTooLarge(m.route.MaxBody)
	}
	if r.ContentLength < 0 { // net/http itself holds a body to its declared length
		r.Body = http.MaxBytesReader(x.ResponseWriter, r.Body, m.route.MaxBody)
	}
	return m.handle(x, r)
}

// acceptable reports whether the route has a format that the request accepts.
func (e *endpoint) acceptable(r *http.Request, route *Route) error {
	if route.Own || route.Raw {
		return nil
	}
	offered := onlyJSON
	if route.XML {
		offered = jsonOrXML
	}
	ok := slices.Contains(offered, e.suffix)
	if !e.suffixed {
		_, ok = negotiate(r.Header, offered)
	}
	if !ok {
		return errNotAcceptable(offered)
	}
	return nil
}
