package authorizations

import (
	"context"
	"errors"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/secret"
)

// Use calls a platform with the token of an account, and once more with a new
// one where the platform refuses the first. Errors: that of the call;
// fault.Conflict where the account is not authorised any more; fault.NotFound
// for an unknown id.
func (s *Service) Use(ctx context.Context, id int64, call func(c *notify.Connection, token secret.Value) error) error {
	a, t, err := s.read(ctx, id)
	if err != nil {
		return err
	}
	c, why := s.askable(&a, &t)
	if why != "" {
		return s.withdraw(ctx, &a, why)
	}
	if !s.Clock().Before(t.Expires.Add(-leeway)) {
		if t, err = s.refresh(ctx, id, t.Count, true); err != nil {
			return err
		}
	}
	err = call(c, t.Access)
	if !client.TokenRefused(err) {
		return err
	}
	if t, err = s.refresh(ctx, id, t.Count, true); err != nil {
		return err
	}
	err = call(c, t.Access)
	if client.TokenRefused(err) {
		a.Tokens = t.Count
		return s.withdraw(ctx, &a, fault.As(err).Message)
	}
	return err
}

// read returns an account with its tokens, those included that are not kept yet.
// fault.Conflict: it is not active. fault.Unavailable: another node has the key of
// its tokens.
func (s *Service) read(ctx context.Context, id int64) (notify.Authorization, notify.AccountTokens, error) {
	a, t, err := s.Store.AccountTokens(ctx, id)
	switch {
	case errors.Is(err, secret.ErrOtherKey): // of this account alone
		return a, t, err
	case err != nil:
		return a, t, ours(err)
	}
	s.mu.Lock()
	held, ok := s.unkept[id]
	s.mu.Unlock()
	if ok && held.tokens.Count == a.Tokens && a.State != notify.AuthorizationRevoked {
		held.tokens.Count++
		return a, held.tokens, nil
	}
	if a.State != notify.AuthorizationActive {
		return a, t, unusable(&a, a.Reason)
	}
	return a, t, s.checkUser(ctx, &a)
}

// keep has the database take new tokens of an account.
func (s *Service) keep(ctx context.Context, id int64) error {
	s.mu.Lock()
	u, ok := s.unkept[id]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	kept, err := s.Store.KeepTokens(ctx, u.of, u.tokens, s.Clock())
	if err != nil {
		return err
	}
	if !kept { // authorised again meanwhile, or revoked
		s.Log.Info("new tokens of an account are not needed any more", "authorisation", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unkept[id].tokens.Count == u.tokens.Count {
		delete(s.unkept, id)
	}
	return nil
}

// keepAll is keep for all accounts.
func (s *Service) keepAll(ctx context.Context) error {
	s.mu.Lock()
	ids := make([]int64, 0, len(s.unkept))
	for id := range s.unkept {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, s.keep(ctx, id))
	}
	return errors.Join(errs...)
}

// ourError is an error of our own database, not of a platform.
type ourError struct{ error }

func (e ourError) Unwrap() error { return e.error }

func ours(err error) error {
	if err == nil {
		return nil
	}
	return ourError{err}
}

func isOurs(err error) bool {
	var e ourError
	return errors.As(err, &e)
}
