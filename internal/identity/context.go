package identity

import "context"

// SessionCookie is the name of the console's session cookie, whose value
// Session takes. Over https, where the console is at the root of its host, it
// has the prefix for which browsers hold that only this host set it, over https:
// neither another port without TLS nor a host of the same domain can.
func SessionCookie(https bool, basePath string) string {
	return cookieName("outrigger_session", https, basePath)
}

// SignInCookie is the name of the cookie of a browser that signs in on the pages
// of a provider; see Service.BeginSignIn.
func SignInCookie(https bool, basePath string) string {
	return cookieName("outrigger_sign_in", https, basePath)
}

func cookieName(name string, https bool, basePath string) string {
	if https && basePath == "" {
		return "__Host-" + name
	}
	return name
}

// Caller is what is known about the origin of a request.
type Caller struct {
	Origin
	Principal *Principal // nil while it is not known, and for anonymous requests
}

// Origin is where a request came from.
type Origin struct {
	Address   string // of the client, behind the proxies that are trusted; no port
	RequestID string // as in X-Request-Id of its answer
	UserAgent string // what the client calls itself
	HTTPS     bool   // the client came by https, here or at a trusted proxy, or base_url says so
}

type callerKey struct{}

// WithCaller notes in the context what is known of the caller. Who it is may be
// filled in later, before others see the context.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// With notes in the context who asks.
func With(ctx context.Context, p *Principal) context.Context {
	return WithCaller(ctx, &Caller{OriginOf(ctx), p})
}

// From returns the user who asks; nil if there is none.
func From(ctx context.Context) *Principal { return callerOf(ctx).Principal }

type unattendedKey struct{}

// Unattended marks what no person asked for, such as the updates of a page that
// stays open: it counts as no use of a session.
func Unattended(ctx context.Context) context.Context {
	return context.WithValue(ctx, unattendedKey{}, true)
}

// Attended reports whether a person asked, as far as is known.
func Attended(ctx context.Context) bool { return ctx.Value(unattendedKey{}) == nil }

// OriginOf tells where the request came from: the zero Origin for what no
// request caused.
func OriginOf(ctx context.Context) Origin { return callerOf(ctx).Origin }

func callerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return *c
	}
	return Caller{}
}
