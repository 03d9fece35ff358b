package identity

import "context"

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
