package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"outrigger/internal/secret"
)

// SingleSignOn is the source of users whom an OpenID Connect provider knows,
// where it does not name users of a platform.
const SingleSignOn = "oidc"

// SignInProvider is a way to sign in on the pages of a provider: the code of OAuth 2 that a
// browser brings back from there stands for its user (RFC 6749, 4.1).
type SignInProvider struct {
	ID     string // in the addresses /sign-in/{id} and /sign-in/{id}/callback
	Name   string // what users call the provider: "Sign in with NAME"
	Source string // of its users: SingleSignOn, or the connection whose platform names them
	Provider

	Page          string   // where a user begins to sign in, for those who come with a token; "" is not known
	AllowedGroups []string // who may sign in at all; none: every user of the provider
	// Reconfirms: the provider can be asked to have a user sign in there once more
	// (Proofs.Again), and says when that was (Account.AuthenticatedAt).
	Reconfirms bool
}

// Provider is the program on the other side. Errors of both methods:
// fault.Unavailable where it does not answer, fault.Unauthenticated where what
// it answers proves nothing. Their messages are shown to strangers and hold none
// of the provider's own words; the cause has those, for the log.
type Provider interface {
	// Location is the provider's page that the browser goes to.
	Location(ctx context.Context, p Proofs) (string, error)
	// Account returns the account that the code stands for.
	Account(ctx context.Context, code secret.Value, p Proofs) (Account, error)
}

// Account is who has signed in, as a provider says.
type Account struct {
	Name    string   // the user's name in the source
	Subject string   // the provider's id of the account, which no other account ever gets; "": it has none but Name
	Groups  []string // in the provider's words
	// AuthenticatedAt is when the user showed the provider who is there; zero: it does
	// not say, and the session begins unconfirmed.
	AuthenticatedAt time.Time

	// Directory is what the user administers, where the platform itself says it;
	// else what it said at an earlier sign-in counts.
	Directory *DirectoryUser
}

// Proofs are what shows that a code, and what it is exchanged for, belong to one
// request of one browser. All of it comes from what the browser's cookie holds:
// the database has only what is compared with that.
type Proofs struct {
	State    string
	Verifier string // of PKCE (RFC 7636)
	Nonce    string // of OpenID Connect
	// Again asks the provider to have the user sign in there even if that was done a
	// moment ago, where it can: so a session is confirmed.
	Again bool
	// Issuer is who the answer says that it is from (RFC 9207); "": it does not say.
	Issuer string
}

func proofsOf(browser, state string) Proofs {
	derive := func(what string) string {
		mac := hmac.New(sha256.New, []byte(browser))
		mac.Write([]byte(what + " " + state))
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	return Proofs{State: state, Verifier: derive("verifier"), Nonce: derive("nonce")}
}

// UseSignInProvider adds a way to sign in. It must be called before any user signs in, and
// after UseDirectory where the way names users of that platform.
func (s *Service) UseSignInProvider(w SignInProvider) {
	s.signInProviders = append(s.signInProviders, w)
}

// SignInProviders lists the ways to sign in besides a password, in the order in which they
// were added.
func (s *Service) SignInProviders() []SignInProvider { return slices.Clone(s.signInProviders) }

// signInProvider returns a signInProvider by its id; nil where there is none.
func (s *Service) signInProvider(id string) *SignInProvider {
	if i := slices.IndexFunc(s.signInProviders, func(w SignInProvider) bool { return w.ID == id }); i >= 0 {
		return &s.signInProviders[i]
	}
	return nil
}

// hasSource reports whether users of a source may be here at all.
func (s *Service) hasSource(source string) bool {
	return source == Local || s.platform != nil && source == s.platform.source ||
		slices.ContainsFunc(s.signInProviders, func(w SignInProvider) bool { return w.Source == source })
}
