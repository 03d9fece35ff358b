// Package oidc signs users in with an OpenID Connect provider: discovery, the
// authorization code with PKCE, and an ID token that is checked
// (https://openid.net/specs/openid-connect-core-1_0.html).
//
// The provider's answers go to the log only. Error messages use Outrigger's own
// words, since users who are not signed in see them.
package oidc

import (
	"time"

	"outrigger/internal/config"
	"outrigger/internal/egress"
)

// Options say what a Provider needs.
type Options struct {
	config.OIDC
	Callback string // where the provider sends browsers back to

	// Issued sends requests to the issuer's own host, which an administrator
	// configured. Named is for other hosts, which only the provider's configuration
	// names: it judges where they are.
	Issued, Named egress.Doer
	Clock         func() time.Time // nil: time.Now
}
