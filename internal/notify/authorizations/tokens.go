package authorizations

import (
	"context"
	"errors"

	"outrigger/internal/notify"
)

// read returns an account with its tokens, those included that are not kept yet.
// fault.Conflict: it is not active.
func (s *Service) read(ctx context.Context, id int64) (notify.Authorization, notify.AccountTokens, error) {
	a, t, err := s.Store.AccountTokens(ctx, id)
	if err != nil {
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
