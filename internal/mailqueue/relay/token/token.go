// Package token has the bearer tokens by which the relay signs in to the
// smarthost: RFC 6749, with the signed assertions of RFC 7523.
//
// A token is kept in memory until a minute before its end. One node of a cluster
// at a time asks for one, since a provider that replaces the refresh token at each
// use takes a second use of the same one for theft. The new refresh token is
// stored before the old one is forgotten.
package token

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

const (
	// early is how long before its end a token is not used any more: a sign-in
	// takes seconds, and clocks differ.
	early = time.Minute

	// unknownLife is how long a token is kept whose end the provider does not say.
	unknownLife = 5 * time.Minute

	// leaseName is what one node holds while it asks.
	leaseName = "relay:token"

	// askEvery and waitTime are for the lease: a node that died holds it for
	// db.LeaseTime.
	askEvery = 250 * time.Millisecond
	waitTime = db.LeaseTime + 5*time.Second
)

// Options say how tokens are had.
type Options struct {
	config.MailOAuth
	Key         *rsa.PrivateKey   // nil: none; signs requests in place of the secret
	Certificate *x509.Certificate // of Key; nil: none
	User        string            // the mailbox

	Client egress.Doer
	DB     *db.DB // with the schema of the relay
	Box    *secret.Box
	Leases *db.Leases
	Log    *slog.Logger
}

// Source has the token that is valid now. It is safe for concurrent use.
type Source struct {
	o    Options
	turn chan struct{} // held by who asks

	mu      sync.Mutex
	token   secret.Value
	until   time.Time
	unsaved *rotation // a refresh token that could not be stored yet
}

// New makes a Source, which asks for nothing yet.
func New(o Options) *Source {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Source{o: o, turn: make(chan struct{}, 1)}
}

// Token returns a token that has not been refused. An error is
// fault.Unavailable, in the provider's words where it answered.
func (s *Source) Token(ctx context.Context) (secret.Value, error) {
	if kept := s.kept(); !kept.IsZero() {
		return kept, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return secret.Value{}, ctx.Err()
	}
	if kept := s.kept(); !kept.IsZero() { // another goroutine has just had it
		return kept, nil
	}
	lease, err := s.acquire(ctx)
	if err != nil {
		return secret.Value{}, err
	}
	// An answer that is not read may hold the only refresh token that is left.
	ctx = context.WithoutCancel(ctx)
	defer work.Release(ctx, s.o.Leases, lease, s.o.Log, "the lease for tokens of the smarthost")
	return s.fetch(ctx)
}

// Refused has a token not be used again.
func (s *Source) Refused(token secret.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.Equal(token) {
		s.token = secret.Value{}
	}
}

func (s *Source) kept() secret.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !time.Now().Before(s.until) {
		return secret.Value{}
	}
	return s.token
}

// acquire waits until no other node asks.
func (s *Source) acquire(ctx context.Context) (*db.Lease, error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	over := time.NewTimer(waitTime)
	defer over.Stop()
	for {
		lease, err := s.o.Leases.Acquire(ctx, leaseName)
		if err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "No token for the smarthost can be fetched, since the database does not answer.")
		}
		if lease != nil {
			return lease, nil
		}
		select {
		case <-tick.C:
		case <-over.C:
			return nil, fault.New(fault.Unavailable, "Another node is fetching a token for the smarthost and does not finish.")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fetch asks for a token, and stores the refresh token that comes with it.
func (s *Source) fetch(ctx context.Context) (secret.Value, error) {
	var used rotation
	if s.o.Grant == config.RefreshToken {
		var err error
		if used, err = s.refreshToken(ctx); err != nil {
			return secret.Value{}, err
		}
	}
	got, err := s.ask(ctx, used.token)
	if err != nil {
		return secret.Value{}, err
	}
	if s.o.Grant == config.RefreshToken && !got.refresh.IsZero() && !got.refresh.Equal(used.token) {
		used.token = got.refresh
		if err := s.keep(ctx, used); err != nil {
			return secret.Value{}, err
		}
	}
	if got.problem != nil {
		return secret.Value{}, got.problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.until = got.access, time.Now().Add(got.life-early)
	return got.access, nil
}
