package identity

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/fault"
)

// withCurrentGrants adds to a platform's user what he administers there now. Others stay as
// they are. Unauthenticated: the platform does not have him any more, or the source
// is not where users come from any more. Unavailable: the platform does not say.
func (s *Service) withCurrentGrants(ctx context.Context, p *Principal) (*Principal, error) {
	switch {
	case !s.hasSource(p.Source):
		return nil, ErrUnauthenticated()
	case s.platform == nil || p.Source != s.platform.source:
		return p, nil
	}
	rights, ok := s.platform.recently(p.UserID, s.now())
	if !ok {
		asked := s.platform.asking.DoChan(idText(p.UserID), func() (any, error) {
			// Others wait for the answer too, who stay when this one leaves.
			shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
			defer cancel()
			return s.askCurrentGrants(shared, p)
		})
		select {
		case a := <-asked:
			if a.Err != nil {
				return nil, s.platform.unanswered(a.Err)
			}
			rights, _ = a.Val.([]Grant)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	own := *p // p is shared with other requests
	own.Grants = append(append([]Grant(nil), p.Grants...), rights...)
	return &own, nil
}

func (s *Service) askCurrentGrants(ctx context.Context, p *Principal) ([]Grant, error) {
	at, era := s.now(), s.platform.begin()
	candidates, err := s.candidates(ctx, p.UserID)
	if err != nil {
		return nil, err
	}
	rights, err := s.platform.CurrentGrants(ctx, p.Name, candidates)
	if err != nil {
		return nil, err
	}
	s.platform.remember(p.UserID, confirmed{rights, at}, era)
	return rights, nil
}

// recently is what is remembered of a user's rights.
func (p *platform) recently(user int64, now time.Time) ([]Grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.recent[user]
	return c.rights, ok && now.Sub(c.at) < presentFor
}

func (p *platform) begin() (era int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generation
}

func (p *platform) remember(user int64, c confirmed, era int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if era != p.generation { // other candidates were stored meanwhile
		return
	}
	if len(p.recent) >= maxCurrentGrants {
		clear(p.recent)
	}
	p.recent[user] = c
}

func (p *platform) forget(user int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.recent, user)
	p.generation++
	p.asking.Forget(idText(user)) // the next request asks about the new candidates
}

// unanswered is the error for a user whom the platform was asked about. What
// the platform said is for the log only: the user may be a stranger.
func (p *platform) unanswered(err error) error {
	f := fault.As(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
	case f.Code != fault.Unavailable:
		return err
	}
	away := fault.Wrap(err, fault.Unavailable, "The platform %s, which knows this user, does not answer. Try again later.", p.source)
	away.RetryAfter = f.RetryAfter
	return away
}
