package admin

import (
	"context"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Webhooks has the operations on the webhooks of platforms, each with its
// permission check.
type Webhooks struct {
	Store *store.Store
	// Check looks at the webhook of a project, and creates it where it is missing
	// and may be.
	Check func(ctx context.Context, c *notify.Connection, p notify.ProjectWebhook) (answers bool, err error)
	// CheckRepository does so for a repository of a cloud platform.
	CheckRepository func(ctx context.Context, w notify.RepositoryWebhook) (answers bool, err error)
	Clock           func() time.Time

	created limit.PerMinute[string]
}

// createdAMinute is how often a user has a repository's webhook looked at in a
// minute, on each node: it takes several requests, with another user's account
// perhaps, which the platform allows so many an hour.
const createdAMinute = 10

// List lists the projects of a connection with their webhooks, those after a
// key.
func (s *Webhooks) List(ctx context.Context, connection, after string, limit int) ([]notify.ProjectWebhook, error) {
	if _, err := connectionOf(ctx, s.Store, connection); err != nil {
		return nil, err
	}
	return s.Store.Webhooks(ctx, connection, after, limit)
}

// Created lists the projects and repositories of a connection that have webhooks
// which Outrigger created, by key.
func (s *Webhooks) Created(ctx context.Context, connection string) ([]string, error) {
	if _, err := connectionOf(ctx, s.Store, connection); err != nil {
		return nil, err
	}
	return s.Store.CreatedWebhooks(ctx, connection)
}

// CheckAll has all projects of a connection looked at within a minute or so.
func (s *Webhooks) CheckAll(ctx context.Context, connection string) error {
	c, err := connectionOf(ctx, s.Store, connection)
	switch {
	case err != nil:
		return err
	case !c.Answers():
		return fault.New(fault.Conflict, "The connection %s has no account that can ask the platform; give it a token.", c.Name)
	}
	return s.Store.CheckWebhooksSoon(ctx, connection)
}

// Create creates the webhook of a project, where there is none. Errors:
// fault.Conflict where the connection does not let it, fault.Unavailable with
// the platform's words.
func (s *Webhooks) Create(ctx context.Context, connection, project string) (*notify.ProjectWebhook, error) {
	c, err := connectionOf(ctx, s.Store, connection)
	switch {
	case err != nil:
		return nil, err
	case !c.ManageWebhooks || !c.Answers():
		return nil, fault.New(fault.Conflict, "The connection %s does not let Outrigger create webhooks on the platform; set "+
			"manageWebhooks, or create the webhook on the platform yourself.", c.Name)
	}
	p, err := s.Store.Webhook(ctx, connection, project)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noProject(c, project)
	}
	if _, err := s.Check(ctx, c, *p); err != nil {
		return nil, err
	}
	if p, err = s.Store.Webhook(ctx, connection, project); err == nil && p == nil {
		err = noProject(c, project)
	}
	if err != nil {
		return nil, err
	}
	if p.State != notify.WebhookSends {
		return nil, fault.New(fault.Unavailable, "The webhook of %s is not there: %s", p.Project.Key, p.Reason)
	}
	return p, nil
}

func noProject(c *notify.Connection, project string) error {
	return fault.New(fault.NotFound, "The platform of %s has no known project %q.", c.Name, project)
}

// Coverage says of each connection that can tell, by name, how many of its
// projects send their events here. It needs ADMIN.
func (s *Webhooks) Coverage(ctx context.Context) ([]notify.Coverage, error) {
	if err := identity.Require(ctx, identity.Admin, identity.Resource{}); err != nil {
		return nil, err
	}
	all, err := s.Store.Coverage(ctx)
	return slices.DeleteFunc(all, func(c notify.Coverage) bool {
		connection := s.Store.Platforms().Connections.Find(c.Connection)
		return connection == nil || !connection.Answers()
	}), err
}

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
		return fault.New(fault.Conflict, "The connection %s does not let Outrigger create webhooks on the platform; set "+
			"manageWebhooks, or create the webhook on the platform yourself.", connection)
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
