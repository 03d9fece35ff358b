package notify

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Authorization is an account of a cloud platform that a user let Outrigger use.
// There is one for each account: given again, it is the same one, of the user
// who gave it last.
type Authorization struct {
	ID           int64              `json:"id" doc:"Stays when the account is authorised again."`
	Connection   string             `json:"connection" doc:"The cloud platform that the account is of."`
	AccountName  string             `json:"account" doc:"Its name on the platform."`
	AccountID    string             `json:"accountId" doc:"The platform's id of it."` // which stays when the account is renamed
	AuthorizedBy string             `json:"authorizedBy" doc:"The user who authorised it last, whose it is."`
	AuthorizedAt time.Time          `json:"authorizedAt" doc:"When it was authorised last."`
	User         identity.UserState `json:"userState" enum:"known,disabled,deleted"` // where it was asked for
	State        AuthorizationState `json:"state" enum:"active,withdrawn,revoked"`
	StateAt      time.Time          `json:"stateSince" doc:"Since when it has been in that state."`
	Reason       string             `json:"reason,omitempty"`
	RefreshedAt  time.Time          `json:"refreshedAt,omitzero" doc:"When the platform last gave tokens."`
	Rules        int                `json:"rules" doc:"That belong to it."`

	BaseURL string    `json:"-"` // of the platform that gave the tokens; they are sent to no other
	UserID  int64     `json:"-"` // who authorised it
	Expires time.Time `json:"-"` // of the access token
	DueAt   time.Time `json:"-"` // when the tokens are refreshed next; zero: not
	AskedAt time.Time `json:"-"` // when a refresh began whose outcome is not known
	Tokens  int64     `json:"-"` // counts the pairs of tokens
}

// MemberWords are those of the members that need more than a few.
func (Authorization) MemberWords() map[string]string {
	return map[string]string{
		"userState": "The state of the user who authorised it. While the user is `disabled`, the account is not used. One whose user was " +
			"`deleted` is withdrawn.",
		"state": "`withdrawn`: the platform refuses its tokens, or the user who authorised it was deleted; its rules still take events, " +
			"but cannot be changed. `revoked`: it was revoked in Outrigger; its rules take no events. To end either, authorise the " +
			"account again.",
		"reason": "In the platform's words: why it was withdrawn or, while it is active, why its last refresh failed.",
	}
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

// ErrNoAccount is the cause of a refusal where authorising an account of the
// platform, on the page AccountsPath, may help.
var ErrNoAccount = errors.New("no authorised account administers the repository")

// CloudAccounts knows the accounts of cloud platforms with which users have
// authorised this program.
type CloudAccounts interface {
	// Administering returns the authorization of the user in ctx whose account
	// administers the repository, as the platform says now. Errors:
	// fault.Forbidden caused by ErrNoAccount where the user has no such account;
	// fault.Unavailable where the platform does not
	// answer; fault.RateLimited.
	Administering(ctx context.Context, connection string, at RepositoryRef) (authorizationID int64, err error)
}

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
