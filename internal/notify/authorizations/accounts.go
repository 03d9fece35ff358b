package authorizations

import (
	"context"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

const (
	// administersFor is how long the platform's yes holds: several saves of a rule,
	// and no longer than permissions of platform users do.
	administersFor = time.Minute
	// maxRemembered bounds the memory; what goes is asked again.
	maxRemembered = 10_000
	// askedAMinute is how often a platform is asked for a user in a minute, on each
	// node: a script that saves rules of many repositories is slowed down.
	askedAMinute = 30
)

// administered is a repository that an account administered a moment ago.
type administered struct {
	id int64
	at notify.RepositoryRef
}

// Administering returns the account of the user who asks that administers a
// repository, as its platform says: notify.CloudAccounts.
func (s *Service) Administering(ctx context.Context, connection string, at notify.RepositoryRef) (int64, error) {
	who := identity.From(ctx)
	if who == nil {
		return 0, identity.ErrUnauthenticated()
	}
	own, err := s.Store.UsableAuthorizations(ctx, connection, who.UserID)
	if err != nil {
		return 0, err
	}
	if len(own) == 0 {
		return 0, fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "To create, save or switch on rules of %s/%s, authorise an account of the "+
			"platform that administers it, under "+notify.AccountsPlace+".", at.ProjectKey, at.RepositoryKey)
	}
	var names []string
	var failed, withdrawn error
	for _, a := range own {
		if _, ok := s.administered.Get(administered{a.ID, at.Folded()}); ok {
			return a.ID, nil
		}
	}
	if wait := s.asked.Take(who.UserID, askedAMinute, s.Clock()); wait > 0 {
		return 0, fault.TooOften(wait, "The platform was asked %d times within a minute whether your account administers a repository. "+
			"Wait a moment.", askedAMinute)
	}
	for _, a := range own {
		yes, err := s.administers(ctx, a.ID, at)
		switch {
		case fault.Is(err, fault.Conflict): // the platform has just said so: as for an account known to be withdrawn
			withdrawn = fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "%s", fault.As(err).Message)
			continue
		case err != nil:
			failed = err
		case yes:
			return a.ID, nil
		}
		names = append(names, a.AccountName)
	}
	if failed != nil {
		return 0, failed
	}
	if len(names) == 0 {
		return 0, withdrawn
	}
	return 0, fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "Your account %s does not administer %s/%s on the platform, or there is no "+
		"such repository. Check the name, or authorise an account that administers it, under "+notify.AccountsPlace+".",
		strings.Join(names, ", "), at.ProjectKey, at.RepositoryKey)
}

func (s *Service) administers(ctx context.Context, id int64, at notify.RepositoryRef) (yes bool, err error) {
	key := administered{id, at.Folded()}
	err = s.Use(ctx, id, func(c *notify.Connection, token secret.Value) error {
		yes, err = s.Platform.Administers(ctx, c, token, at)
		return err
	})
	if err != nil || !yes {
		s.administered.Delete(key)
		return false, err
	}
	s.administered.Put(key, struct{}{})
	return true, nil
}
