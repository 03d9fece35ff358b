package identity

import "context"

// SessionCookie is the name of the console's session cookie, whose value
// Session takes.
const SessionCookie = "outrigger_session"

type (
	principalKey struct{}
	originKey    struct{}
)

// With notes in the context who asks.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From tells who asks: nil for nobody.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// Origin is where a request came from.
type Origin struct {
	Address   string // of the client, behind the proxies that are trusted; no port
	RequestID string // as in X-Request-Id of its answer
}

// WithOrigin notes in the context where the request came from.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf tells where the request came from: the zero Origin for what no
// request caused.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
