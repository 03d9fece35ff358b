package admin

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// OfRepository returns the webhook of a repository of a cloud platform, to who
// administers it, with the hook that is for it, nil where there is none.
func (s *Webhooks) OfRepository(
	ctx context.Context, connection string, at notify.RepositoryRef,
) (*notify.RepositoryWebhook, *notify.Hook, error) {
	repository := identity.Resource{Connection: connection, Project: at.ProjectKey, Repository: at.RepositoryKey}
	if err := identity.Require(ctx, identity.RepoAdmin, repository); err != nil {
		return nil, nil, err
	}
	if err := s.Store.Renew(ctx); err != nil {
		return nil, nil, err
	}
	w, err := s.Store.RepositoryWebhook(ctx, connection, at)
	if err != nil {
		return nil, nil, err
	}
	return &w, s.Store.Platforms().HookOf(connection, w.At), nil
}

// CreateOfRepository looks at the webhook of a repository, and creates it where
// it is missing. Errors: fault.Conflict where the connection does not let it, or
// no account can; fault.RateLimited; fault.Unavailable with the platform's words.
func (s *Webhooks) CreateOfRepository(ctx context.Context, connection string, at notify.RepositoryRef) error {
	w, _, err := s.OfRepository(ctx, connection, at)
	if err != nil {
		return err
	}
	switch {
	case !s.ManagesRepositories(connection):
		return fault.New(fault.Conflict, "The connection %s does not let Outrigger create webhooks on the platform; set manageWebhooks, or "+
			"create the webhook on the platform yourself.", connection)
	case w.AuthorizationID == 0:
		return fault.New(fault.Conflict, "The webhook cannot be created, because no rule of %s/%s belongs to an authorised account. Save "+
			"a rule first.", at.ProjectKey, at.RepositoryKey)
	}
	if wait := s.created.Take(identity.From(ctx).Ref(), createdAMinute, s.Clock()); wait > 0 {
		return fault.TooOften(wait, "You had webhooks of repositories checked %d times within a minute. Wait a moment.", createdAMinute)
	}
	if _, err := s.CheckRepository(ctx, *w); err != nil {
		return err
	}
	if w, _, err = s.OfRepository(ctx, connection, at); err != nil {
		return err
	}
	if w.State != notify.WebhookSends {
		return fault.New(fault.Unavailable, "The webhook of %s/%s is not there: %s", at.ProjectKey, at.RepositoryKey, w.Reason)
	}
	return nil
}

// ManagesRepositories reports whether a connection lets this program create the
// webhooks of its repositories.
func (s *Webhooks) ManagesRepositories(connection string) bool {
	c := s.Store.Platforms().Connections.Find(connection)
	return c != nil && c.Edition() == notify.Cloud && c.ManageWebhooks
}
