// Package authorizations holds the accounts of cloud platforms that users let
// Outrigger use: it exchanges the codes that users come back with, refreshes the
// tokens ahead of time, and calls the platforms with them.
package authorizations

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"outrigger/internal/cache"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

const (
	// every is how often is looked for tokens that are due.
	every = 30 * time.Second
	// atOnce is how many accounts are refreshed in a round: a request each.
	atOnce = 50
	// failedFor is how long a platform that did not answer is left alone.
	failedFor = time.Minute
	// heldFor is how long the other accounts of a connection wait at most where a
	// platform asks for a longer pause: that may be for one account alone, and their
	// tokens end half an hour after they are due.
	heldFor = 5 * time.Minute
	// refreshTime is how long a refresh may take. It is not cut off by a stop, which
	// takes no longer: the answer may have new tokens in place of the old ones.
	refreshTime = 4 * time.Second
	// commitTime is how long a stop waits for the database to take tokens.
	commitTime = time.Second
	// leaseTime is what a lease must last for longer than one refresh.
	leaseTime = 2 * refreshTime
	// leeway is how long before its end an access token counts as over: longer than
	// a call with it takes, and clocks differ.
	leeway = time.Minute
	// pollEvery is how often is looked whether another node has new tokens.
	pollEvery = 100 * time.Millisecond
)

// Store keeps the accounts; *store.Store.
type Store interface {
	Platforms() *notify.Platforms
	// AccountTokens returns an account with its tokens: fault.NotFound where there is
	// none with the id.
	AccountTokens(ctx context.Context, id int64) (notify.Authorization, notify.AccountTokens, error)
	// UsableAuthorizations lists the active ones that a user gave.
	UsableAuthorizations(ctx context.Context, connection string, userID int64) ([]notify.Authorization, error)
	// ReadingAuthorizations lists active ones that may be able to read a repository:
	// those of a user first, then those that rules there belong to.
	ReadingAuthorizations(ctx context.Context, connection string, at notify.RepositoryRef, userID int64, limit int) ([]notify.Authorization,
		error)
	DueAuthorizations(ctx context.Context, now time.Time, limit int) ([]notify.Authorization, error)
	// ListAuthorizations lists those of a user, after an id.
	ListAuthorizations(ctx context.Context, userID, after int64, limit int) ([]notify.Authorization, error)
	// AuthorizationUsers returns the users of the active ones.
	AuthorizationUsers(ctx context.Context) ([]int64, error)
	// CountAuthorizations counts the accounts in each state.
	CountAuthorizations(ctx context.Context) (map[notify.AuthorizationState]int, error)

	// What these four write is about the pair of tokens of that count; where there
	// is a later one they change nothing, and ok is false.
	BeginRefresh(ctx context.Context, id, count int64, now time.Time) (ok bool, err error)
	KeepTokens(ctx context.Context, a notify.Authorization, t notify.AccountTokens, now time.Time) (ok bool, err error)
	PostponeRefresh(ctx context.Context, a notify.Authorization, due time.Time, reason string) (ok bool, err error)
	WithdrawAuthorization(ctx context.Context, id, count int64, reason string, now time.Time) (ok bool, err error)
}

// Platform is asked; *client.Client.
type Platform interface {
	AuthorizeURL(c *notify.Connection, state, challenge, redirect string) string
	Exchange(ctx context.Context, c *notify.Connection, code, verifier, redirect string) (notify.AccountTokens, error)
	Refresh(ctx context.Context, c *notify.Connection, refresh secret.Value) (notify.AccountTokens, error)
	User(ctx context.Context, c *notify.Connection, token secret.Value) (client.Account, error)
	Administers(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) (bool, error)
	CheckRepository(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) error
	OpenPullRequests(ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef) ([]notify.OpenPullRequest, error)
}

// Options are what a Service needs.
type Options struct {
	Store    Store
	Platform Platform
	// UserStates tells what became of the users who authorised accounts:
	// identity.Service.UserStates.
	UserStates func(ctx context.Context, ids ...int64) (map[int64]identity.UserState, error)
	Leases     *db.Leases
	Clock      func() time.Time
	Log        *slog.Logger
	Metrics    prometheus.Registerer
}

// Service refreshes the tokens of accounts and calls the platforms with them.
// One node of a cluster refreshes an account at a time.
type Service struct {
	Options
	metrics *metrics
	rounds  work.PeriodicWorker
	shared  singleflight.Group     // of refreshes, by account
	running sync.WaitGroup         // refreshes under way
	asked   limit.PerMinute[int64] // of users

	administered *cache.Cache[administered, struct{}]

	mu     sync.Mutex
	ended  bool                 // no refresh begins any more
	failed map[string]time.Time // until when a connection is left alone
	unkept map[int64]unkept     // by account
}

// unkept are tokens that a platform gave and the database did not take yet.
type unkept struct {
	of     notify.Authorization
	tokens notify.AccountTokens // Count is of the pair that they replace
}

// New makes a Service; nothing is refreshed ahead before Start.
func New(o Options) *Service {
	if o.Metrics != nil {
		o.Metrics.MustRegister(&accountsGauge{store: o.Store})
	}
	return &Service{
		Options: o, metrics: newMetrics(o.Metrics), failed: map[string]time.Time{}, unkept: map[int64]unkept{},
		administered: cache.New[administered, struct{}](o.Clock, administersFor, maxRemembered),
	}
}

// Start begins to refresh tokens ahead of time.
func (s *Service) Start(ctx context.Context) {
	s.rounds.StartEvery(ctx, every, s.Log, "authorisations could not be refreshed", s.runOnce)
}

// Stop waits for refreshes that are under way, and keeps what came of them.
func (s *Service) Stop() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.rounds.Stop()
	s.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), commitTime)
	defer cancel()
	if err := s.keepAll(ctx); err != nil {
		s.Log.Error("new tokens of accounts could not be kept; the accounts may have to be authorised again", "error", err)
	}
}

// runOnce refreshes what is due, and says how many accounts have new tokens. An
// error is about our own database.
func (s *Service) runOnce(ctx context.Context) (refreshed int, err error) {
	if err := s.keepAll(ctx); err != nil {
		return 0, err
	}
	disabled, err := s.withdrawDeleted(ctx)
	if err != nil {
		return 0, err
	}
	due, err := s.Store.DueAuthorizations(ctx, s.Clock(), atOnce)
	if err != nil {
		return 0, err
	}
	for _, a := range due {
		if ctx.Err() != nil {
			return refreshed, ctx.Err()
		}
		if until := s.failedUntil(a.Connection); s.Clock().Before(until) {
			// Just before the account that failed, so that this one has its turn first.
			if _, err := s.Store.PostponeRefresh(ctx, a, until.Add(-time.Microsecond), a.Reason); err != nil {
				return refreshed, err
			}
			continue
		}
		if disabled[a.UserID] {
			if _, err := s.Store.PostponeRefresh(ctx, a, s.Clock().Add(disabledFor), a.Reason); err != nil {
				return refreshed, err
			}
			continue
		}
		t, err := s.refresh(ctx, a.ID, a.Tokens, false)
		switch {
		case err == nil && t.Count > a.Tokens:
			refreshed++
		case isOurs(err):
			return refreshed, err
		}
	}
	return refreshed, nil
}
