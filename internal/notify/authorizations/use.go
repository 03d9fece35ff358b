package authorizations

import (
	"context"

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
