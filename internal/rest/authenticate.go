package rest

import (
	"net/http"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// authenticate tells who asks: by the header Authorization, else by the
// console's session cookie.
func (rt *Router) authenticate(r *http.Request) (*identity.Principal, error) {
	ctx := r.Context()
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return rt.identity.Bearer(ctx, strings.TrimSpace(credentials))
	}
	// A browser sends cookies, and Basic credentials once entered, on behalf of
	// any page; only Bearer proves that the sender knows the secret.
	if err := rt.origins.Check(r); err != nil {
		return nil, fault.Wrap(err, fault.Forbidden, "Pages of another origin may not send changes. Use a Bearer token.")
	}
	if scheme != "" {
		user, password, ok := r.BasicAuth()
		if !ok {
			return nil, identity.ErrUnauthenticated()
		}
		return rt.identity.Basic(ctx, user, password, ClientAddr(ctx))
	}
	cookie, err := r.Cookie(identity.SessionCookie(identity.OriginOf(ctx).HTTPS, rt.base.path))
	if err != nil {
		return nil, identity.ErrUnauthenticated()
	}
	return rt.identity.Session(ctx, cookie.Value)
}

// codeHeader has a code of a second factor, for what a token, or the password, alone
// is not enough for.
const codeHeader = "Outrigger-Code"

// withCode takes the code that comes with a request. It is right once, so that
// nothing else authenticates with it.
func withCode(r *http.Request) *http.Request {
	code := r.Header.Get(codeHeader)
	if code == "" {
		return r
	}
	return r.WithContext(identity.WithCode(r.Context(), secret.New(code)))
}

// Still reports whether who asks may go on reading an answer that lasts: since it
// began the session or token may have ended, the user been disabled, or the
// permission been revoked. Asking is no use of a session.
func Still(r *http.Request) bool {
	x := exchangeOf(r.Context())
	if x == nil || x.route.Access == Anyone {
		return true
	}
	p, err := x.router.authenticate(r.WithContext(identity.Unattended(r.Context())))
	return err == nil && x.route.admit(p, r.Method) == nil
}
