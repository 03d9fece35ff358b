package identity

import "context"

// Authenticator tells who credentials are of; *Service. Errors:
// fault.Unauthenticated without valid ones, whatever the reason;
// fault.RateLimited after too many failures; fault.Unavailable when it cannot
// be known.
type Authenticator interface {
	// Basic takes a password or a token; addr is where they came from.
	Basic(ctx context.Context, user, password, addr string) (*Principal, error)
	Bearer(ctx context.Context, token string) (*Principal, error)
	Session(ctx context.Context, session string) (*Principal, error)
}
