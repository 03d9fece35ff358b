package authorizations

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// maxAsked is how many accounts are tried: where that many may not read a
// repository, further ones hardly may.
const maxAsked = 5

// OpenPullRequests lists the open pull requests of a repository:
// notify.PullRequestLister of cloud platforms. It asks with an account of the
// user of notify.AskedFor, else with one that rules of the repository belong to.
func (s *Service) OpenPullRequests(
	ctx context.Context, c *notify.Connection, at notify.RepositoryRef,
) (all []notify.OpenPullRequest, err error) {
	err = s.readWith(ctx, c, at, func(c *notify.Connection, token secret.Value) (err error) {
		all, err = s.Platform.OpenPullRequests(ctx, c, token, at)
		return err
	})
	return all, err
}

// CheckRepository reports whether there is a repository, as an account of the user
// who asks or of its rules sees it. fault.NotFound: the platform shows it none.
func (s *Service) CheckRepository(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) error {
	return s.readWith(ctx, c, at, func(c *notify.Connection, token secret.Value) error {
		return s.Platform.CheckRepository(ctx, c, token, at)
	})
}

// readWith calls the platform with one account after the other that may be able to
// read a repository, until one can.
func (s *Service) readWith(
	ctx context.Context, c *notify.Connection, at notify.RepositoryRef, call func(c *notify.Connection, token secret.Value) error,
) error {
	accounts, err := s.Store.ReadingAuthorizations(ctx, c.Name, at, notify.AskedFor(ctx), maxAsked)
	if err != nil {
		return err
	}
	if len(accounts) == 0 {
		return fault.New(fault.Unavailable, "No account of the platform of %s is authorised to read %s/%s. Authorise yours under "+
			notify.AccountsPlace+".", c.Name, at.ProjectKey, at.RepositoryKey)
	}
	var first error
	for _, a := range accounts {
		err := s.Use(ctx, a.ID, call)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if first == nil {
			first = err
		}
	}
	f := fault.As(first)
	if f.Code == fault.Conflict { // its account is authorised no more
		return fault.Wrap(first, fault.Unavailable, "%s", f.Message)
	}
	return first
}
