// Package identity knows who asks and what they may do: users, the
// permissions granted to them, tokens and sessions.
//
// Users live in this program's database. A Principal is a user as of at most
// a second ago: what is changed on one node holds on every node within that.
// The package knows no HTTP; rest asks it who is behind a request, and
// accounts/api are its endpoints.
package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"log/slog"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/cache"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/limit"
	"outrigger/internal/secret"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of users, grants, tokens and sessions. It needs
// that of audit.
var Migrations = db.Migrations{Name: "identity", FS: migrations}

// Options say what a Service needs.
type Options struct {
	Clock         func() time.Time // nil is time.Now
	Log           *slog.Logger
	DataDir       string       // where the generated first password is written
	AdminPassword secret.Value // of the first administrator; none: one is generated
	PasswordCost  PasswordCost // of each password that is set; zero: as OWASP advises
	Box           *secret.Box  // encrypts the secrets of authenticator apps; nil: none can be set up or asked for
}

// Service authenticates users, and keeps them with their grants, tokens and
// sessions.
type Service struct {
	db              *db.DB
	now             func() time.Time
	log             *slog.Logger
	dataDir         string
	first           secret.Value // the configured password of the first administrator
	users           *cache.Cache[string, User]
	tokens          *cache.Cache[string, tokenHolder]
	sessions        *cache.Cache[string, sessionHolder]
	hasher          *hasher
	known           *remembered
	attempts        *cache.Cache[attempt, standing]
	platform        *platform // nil: none has users
	box             *secret.Box
	passkeys        passkeys
	issuer          string // as authenticator apps call this server
	signInProviders []SignInProvider
	groups          *groupRules // nil: groups give nothing
	idle            *idleRule   // nil: no user is paused

	providerLimiter *limit.Fair[string] // to ask a provider about a sign-in

	dependents func(ctx context.Context, user int64) ([]string, error) // nil: nothing depends on a user
}

const (
	// freshness is how long an answer of the database is remembered, so that monitors
	// and webhooks do not ask it for every request: what another node changed must
	// hold within a second, the request's own time included.
	freshness = time.Second / 2
	// maxFresh bounds the memory. More callers than this within half a second pay for
	// their queries.
	maxFresh = 4096
)

// New makes a Service. Call Start before any user signs in.
func New(d *db.DB, o Options) *Service {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Service{
		db: d, now: o.Clock, log: o.Log, dataDir: o.DataDir, first: o.AdminPassword, box: o.Box, issuer: "Outrigger",
		users:    cache.New[string, User](o.Clock, freshness, maxFresh),
		tokens:   cache.New[string, tokenHolder](o.Clock, freshness, maxFresh),
		sessions: cache.New[string, sessionHolder](o.Clock, freshness, maxFresh),
		hasher:   newHasher(cmp.Or(o.PasswordCost, owasp())),
		known:    newRemembered(o.Clock, []byte(rand.Text())),
		attempts: cache.New[attempt, standing](o.Clock, freshness, maxFresh),

		providerLimiter: newLimiter(maxSigningIn),
	}
}

// UseDependents sets what tells, in sentences, what stops with a user. Call it
// before any user signs in.
func (s *Service) UseDependents(of func(ctx context.Context, user int64) ([]string, error)) {
	s.dependents = of
}

// Dependents says in sentences what stops when a user is deleted.
func (s *Service) Dependents(ctx context.Context, name string) ([]string, error) {
	u, err := s.User(ctx, name)
	if err != nil || s.dependents == nil {
		return nil, err
	}
	return s.dependents(ctx, u.ID)
}

// ErrUnauthenticated is the one answer to failed authentication, whatever the
// reason: no credentials, an unknown user, a wrong password, a token or
// session that is over.
func ErrUnauthenticated() error {
	return fault.New(fault.Unauthenticated, "Client must be authenticated to access this resource.")
}

// changed makes this node forget what it remembers of the database, once tx is
// committed. Other nodes find out within a second.
func (s *Service) changed(tx *db.Tx) {
	tx.AfterCommit(func() {
		s.users.Clear()
		s.tokens.Clear()
		s.sessions.Clear()
	})
}

// Authenticator tells whose credentials are shown; *Service is one. Errors:
// fault.Unauthenticated without valid ones, whatever the reason; fault.Forbidden
// where a password is right and a second factor is missing;
// fault.RateLimited after too many failures; fault.Unavailable when it cannot
// be known.
type Authenticator interface {
	// Basic takes a password or a token; addr is where they came from.
	Basic(ctx context.Context, user, password, addr string) (*Principal, error)
	Bearer(ctx context.Context, token string) (*Principal, error)
	Session(ctx context.Context, session string) (*Principal, error)
}

// WithActor completes an entry of the audit trail with who asks and from where,
// as the context says.
func WithActor(ctx context.Context, e audit.Entry) audit.Entry {
	if p := From(ctx); p != nil {
		e.Who, e.Source = p.Name, p.Source
	}
	o := OriginOf(ctx)
	e.Address, e.RequestID = o.Address, o.RequestID
	return e
}

// record notes a change in the audit trail.
func record(ctx context.Context, tx *db.Tx, action, object, id string, before, after map[string]string) error {
	return audit.Record(ctx, tx, WithActor(ctx, audit.Entry{
		Area: "identity", Action: action, Object: object, ObjectID: id, Before: before, After: after,
	}))
}
