package notify

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// RepositoryWebhook is the webhook by which the events of a repository of a cloud
// platform come here. Such a platform counts no calls: there is no health but its
// state.
type RepositoryWebhook struct {
	Connection      string
	At              RepositoryRef
	AuthorizationID int64 // of an active account of a rule there; 0: none
	State           WebhookState
	Hook            string    // ours, that it calls
	RemoteID        string    // on the platform; "": none
	Reason          string    // why it is not known, or was not created, in the platform's words
	SetAt           time.Time // when Outrigger last wrote it; zero: people keep it
	SecretMark      string    // of the secret that it wrote; another is written when the hook's changes
	CheckedAt       time.Time // zero: not yet
	Rules, Reports  int       // that are there
}

// GoesWithLastRule reports whether Outrigger deletes the webhook on the platform
// when the only rule of the repository is deleted: it created it, and no report
// needs it to follow renames.
func (w *RepositoryWebhook) GoesWithLastRule() bool {
	return w.Rules == 1 && w.Reports == 0 && w.Created()
}

// Created reports whether Outrigger created the webhook, as far as it is known.
func (w *RepositoryWebhook) Created() bool { return !w.SetAt.IsZero() && w.RemoteID != "" }

func (w *RepositoryWebhook) scope() Scope {
	return Scope{ProjectKey: w.At.ProjectKey, RepositoryKey: w.At.RepositoryKey}
}

// FreeHookName is the name of a hook that is made for a scope.
func (p *Platforms) FreeHookName(connection string, scope Scope) string {
	name := ManagedHookName(scope.key(), false)
	if other, _ := p.Hook(connection, name); other != nil {
		return ManagedHookName(scope.key(), true)
	}
	return name
}

// key names what a scope holds.
func (s Scope) key() string {
	if s.RepositoryKey == "" {
		return s.ProjectKey
	}
	return s.ProjectKey + "/" + s.RepositoryKey
}

// HookOf returns the hook that is for exactly a scope; nil where there is none.
func (p *Platforms) HookOf(connection string, scope Scope) *Hook {
	for _, h := range p.Hooks(connection) {
		if h.Name != "" && h.Scope.Holds(scope) && scope.Holds(h.Scope) {
			return h
		}
	}
	return nil
}

// OfRepository returns the webhook of a repository of a cloud platform, to who
// administers it, with the hook that is for it, nil where there is none.
func (s *Webhooks) OfRepository(ctx context.Context, connection string, at RepositoryRef) (*RepositoryWebhook, *Hook, error) {
	if err := identity.Require(ctx, identity.RepoAdmin, identity.Resource{Connection: connection, Project: at.ProjectKey, Repository: at.RepositoryKey}); err != nil {
		return nil, nil, err
	}
	if err := s.Store.Renew(ctx); err != nil {
		return nil, nil, err
	}
	w, err := s.Store.RepositoryWebhook(ctx, connection, at)
	if err != nil {
		return nil, nil, err
	}
	return &w, s.Store.Platforms().HookOf(connection, w.scope()), nil
}

// CreateOfRepository looks at the webhook of a repository, and creates it where
// it is missing. Errors: fault.Conflict where the connection does not let it, or
// no account can; fault.RateLimited; fault.Unavailable with the platform's words.
func (s *Webhooks) CreateOfRepository(ctx context.Context, connection string, at RepositoryRef) error {
	w, _, err := s.OfRepository(ctx, connection, at)
	if err != nil {
		return err
	}
	switch {
	case !s.ManagesRepositories(connection):
		return fault.New(fault.Conflict, "The connection %s does not let Outrigger create webhooks on the platform; set manageWebhooks, or create the webhook on the platform yourself.", connection)
	case w.AuthorizationID == 0:
		return fault.New(fault.Conflict, "The webhook cannot be created, because no rule of %s/%s belongs to an authorised account. Save a rule first.", at.ProjectKey, at.RepositoryKey)
	}
	if wait := s.created.Take(accountOf(identity.From(ctx)), createdAMinute, s.Clock()); wait > 0 {
		return TooOften(wait, "You had webhooks of repositories checked %d times within a minute. Wait a moment.", createdAMinute)
	}
	if _, err := s.CheckRepository(ctx, *w); err != nil {
		return err
	}
	if w, _, err = s.OfRepository(ctx, connection, at); err != nil {
		return err
	}
	if w.State != WebhookSends {
		return fault.New(fault.Unavailable, "The webhook of %s/%s is not there: %s", at.ProjectKey, at.RepositoryKey, w.Reason)
	}
	return nil
}

// ManagesRepositories reports whether a connection lets this program create the
// webhooks of its repositories.
func (s *Webhooks) ManagesRepositories(connection string) bool {
	c := s.Store.Platforms().Connections.Find(connection)
	return c != nil && c.Edition() == Cloud && c.ManageWebhooks
}
