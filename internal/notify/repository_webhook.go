package notify

import (
	"time"
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
