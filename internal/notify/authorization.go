package notify

import (
	"context"
	"encoding/base64"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Authorization is an account of a cloud platform that a user let Outrigger use.
// There is one for each account: given again, it is the same one, of the user
// who gave it last.
type Authorization struct {
	ID          int64
	Connection  string
	AccountID   string // the platform's id, which stays when the account is renamed
	AccountName string
	BaseURL     string // of the platform that gave the tokens; they are sent to no other

	UserID       int64              // who authorised it
	User         identity.UserState // what became of that user, where it was asked for
	AuthorizedBy string
	AuthorizedAt time.Time

	State   AuthorizationState
	StateAt time.Time // since when
	// Reason is why the authorisation was withdrawn or, of an active one, why its
	// last refresh failed, in the platform's words.
	Reason string

	Expires     time.Time // of the access token
	RefreshedAt time.Time // when the tokens were given last
	DueAt       time.Time // when they are refreshed next; zero: not
	AskedAt     time.Time // when a refresh began whose outcome is not known
	Tokens      int64     // counts the pairs of tokens
	Rules       int       // that belong to the account
}

// AuthorizationState says whether Outrigger may use an account.
type AuthorizationState string

const (
	// AuthorizationActive: the platform takes its tokens.
	AuthorizationActive AuthorizationState = "active"
	// AuthorizationWithdrawn: the platform refuses its tokens, or the user who
	// authorised it was deleted. Rules of the account go on, and ask for it.
	AuthorizationWithdrawn AuthorizationState = "withdrawn"
	// AuthorizationRevoked: it was revoked in Outrigger. Rules of the account take
	// nothing until it is authorised again.
	AuthorizationRevoked AuthorizationState = "revoked"
)

// AccountTokens are what a platform takes for an account. Count is that of the
// pair; what comes of a refresh names the pair that it was asked with.
type AccountTokens struct {
	Access, Refresh secret.Value
	Expires         time.Time // of Access
	Count           int64
}

// refreshAhead is how long before its end an access token is refreshed. The
// vendor's live for two hours: a platform that is away for half an hour goes
// unnoticed.
const refreshAhead = 30 * time.Minute

// RefreshDue says when to refresh tokens that were given at a time: ahead of
// their end, but not before half of their life.
func (t *AccountTokens) RefreshDue(given time.Time) time.Time {
	due := t.Expires.Add(-refreshAhead)
	if half := given.Add(t.Expires.Sub(given) / 2); due.Before(half) {
		return half
	}
	return due
}

// GrantedAccount is an account that a platform gave tokens for.
type GrantedAccount struct {
	ID, Name string
	Tokens   AccountTokens
}

// AuthorizationRequest is a user's request to authorise an account, while the
// user is on the platform's pages.
type AuthorizationRequest struct {
	State      secret.Value
	Connection string
	UserID     int64
	Session    int64        // 0: any of the user's; it was made with a password or a token
	Verifier   secret.Value // of PKCE (RFC 7636)
	Back       string       // where the user came from
	MadeAt     time.Time
	ExpiresAt  time.Time
}

const (
	// requestTime is how long a user may take on the platform's pages: to sign in
	// there, with a second factor.
	requestTime = 10 * time.Minute
	// MaxRequests is how many requests of a user may be open, in several windows;
	// of more, the oldest are dropped.
	MaxRequests = 20
	// stateBytes is as much as cannot be guessed; RFC 7636 asks for as much of a
	// verifier.
	stateBytes = 32
)

func NewAuthorizationRequest(who *identity.Principal, connection, back string, now time.Time) AuthorizationRequest {
	return AuthorizationRequest{
		State: secret.New(secret.Random(stateBytes)), Verifier: secret.New(secret.Random(stateBytes)),
		Connection: connection, UserID: who.UserID, Session: who.Session, Back: back, MadeAt: now, ExpiresAt: now.Add(requestTime),
	}
}

// Challenge is the S256 challenge of the request's verifier.
func (r *AuthorizationRequest) Challenge() string {
	return base64.RawURLEncoding.EncodeToString(secret.Fingerprint(r.Verifier.Reveal()))
}

// CallbackPath is where a platform sends users back to.
func CallbackPath(connection string) string { return "/oauth/" + connection }

// AccountsPath is the page of the authorised accounts.
const AccountsPath = "/notifications/cloud/accounts"

// AccountsPlace is that page as texts name it.
const AccountsPlace = "Notifications › Cloud › Accounts"

// Audited is what the audit trail keeps of an authorisation: nothing of its
// tokens.
func (a *Authorization) Audited() map[string]string {
	if a == nil {
		return nil
	}
	return map[string]string{"account": a.AccountName, "accountId": a.AccountID, "state": string(a.State), "authorizedBy": a.AuthorizedBy}
}

type onBehalfKey struct{}

// OnBehalf notes in ctx for which user a platform is asked in the background:
// an account that this user authorised is taken first.
func OnBehalf(ctx context.Context, userID int64) context.Context {
	return context.WithValue(ctx, onBehalfKey{}, userID)
}

// AskedFor is the user of OnBehalf or, without one, the user who asks; 0: none.
func AskedFor(ctx context.Context) int64 {
	if id, ok := ctx.Value(onBehalfKey{}).(int64); ok {
		return id
	}
	if who := identity.From(ctx); who != nil {
		return who.UserID
	}
	return 0
}
