package identity

import (
	"context"
	"errors"
	"slices"

	"outrigger/internal/fault"
)

// withCurrentGrants adds to a platform's user what they administer there now. Other
// users stay as they are. Unauthenticated: the platform does not have the user any
// more, or users do not come from the source any more. Unavailable: the platform or the
// database does not say.
func (s *Service) withCurrentGrants(ctx context.Context, p *Principal) (*Principal, error) {
	switch {
	case !s.hasSource(p.Source):
		return nil, ErrUnauthenticated()
	case s.platform == nil || p.Source != s.platform.source:
		return p, nil
	}
	rights, ok := s.platform.current.Get(p.UserID)
	if !ok {
		asked := s.platform.asking.DoChan(idText(p.UserID), func() (any, error) {
			// Others wait for the answer too, who stay when this one leaves.
			shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
			defer cancel()
			return s.platform.current.Load(p.UserID, func() ([]Grant, error) { return s.askCurrentGrants(shared, p) })
		})
		select {
		case a := <-asked:
			if a.Err != nil {
				return nil, a.Err
			}
			rights, _ = a.Val.([]Grant)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	own := *p // p is shared with other requests
	own.Grants = slices.Concat(p.Grants, rights)
	return &own, nil
}

func (s *Service) askCurrentGrants(ctx context.Context, p *Principal) ([]Grant, error) {
	candidates, err := s.candidates(ctx, p.UserID)
	if err != nil {
		s.log.WarnContext(ctx, "what a user administers on the platform could not be read from the database", "user", p.Ref(), "error", err)
		return nil, err
	}
	grants, err := s.platform.CurrentGrants(ctx, p.Name, candidates)
	if err != nil {
		return nil, s.platform.unanswered(err)
	}
	return grants, nil
}

// forget has the next request ask about the candidates that are stored now.
func (p *platform) forget(user int64) {
	p.current.Delete(user)
	p.asking.Forget(idText(user))
}

// unanswered is the error for a user whom the platform was asked about. What
// the platform said is for the log only: the user may be a stranger.
func (p *platform) unanswered(err error) error {
	f := fault.As(err)
	if f.Code != fault.Unavailable && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	away := fault.Wrap(err, fault.Unavailable, "The platform %s, which knows this user, does not answer. Try again later.", p.source)
	away.RetryAfter = f.RetryAfter
	return away
}
