package webhooks

import (
	"context"
	"encoding/hex"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/secret"
)

// noAddress is why no webhook is created where BaseURL is Local.
const noAddress = "Outrigger does not know the address that the platform should call: set base_url in the configuration file."

// called is what a webhook on a platform calls here.
type called struct {
	hook   string
	state  notify.WebhookState // WebhookMissing for one that is of no use to the scope
	reason string
}

// judge says what a webhook calls that should send the events of a scope; false
// where it calls nothing of this program.
func (w *Watch) judge(c *notify.Connection, scope notify.Scope, url string, active bool) (called, bool) {
	name, ok := notify.HookCalled(w.BaseURL, c.Name, url)
	if !ok {
		return called{}, false
	}
	what := "project"
	if scope.RepositoryKey != "" {
		what = "repository"
	}
	h, _ := w.Store.Platforms().Hook(c.Name, name)
	switch {
	case h == nil:
		return called{name, notify.WebhookMissing, "A webhook of the " + what + " calls the hook " + name + ", which does not exist."}, true
	case !h.Scope.Holds(scope):
		return called{
			name, notify.WebhookMissing,
			"A webhook of the " + what + " calls the hook " + name + ", which is for " + h.Scope.String() + ".",
		}, true
	case !active:
		return called{name, notify.WebhookInactive, "It is switched off on the platform."}, true
	}
	return called{name, notify.WebhookSends, ""}, true
}

// writer is who wrote to the platform, by when this program last did so, before
// and now; nil where nothing was written.
func writer(ctx context.Context, connection string, before, now time.Time) *notify.Actor {
	if now.IsZero() || now.Equal(before) {
		return nil
	}
	by := admin.ManagedBy(ctx, connection)
	return &by
}

// mark tells the secrets of a hook apart, and nothing about them.
func mark(h *notify.Hook) string {
	return hex.EncodeToString(secret.Fingerprint(h.Secret.Reveal())[:4])
}

// told reports whether the platform was told the secret of a hook, by its mark. One
// that this node cannot read is not told at all: another node may have its key.
func told(marked string, h *notify.Hook) bool { return h.Secret.IsZero() || marked == mark(h) }

// hookOf returns the hook of a scope whose secret the platform may be told; it makes
// one where there is none.
func (w *Watch) hookOf(ctx context.Context, c *notify.Connection, scope notify.Scope) (notify.Hook, error) {
	for _, h := range w.Store.Platforms().HooksOf(c.Name, scope) {
		if !h.Secret.IsZero() && c.KnowsSecretOf(h) {
			return *h, nil
		}
	}
	h := notify.Hook{Connection: c.Name, Name: w.Store.Platforms().FreeHookName(c.Name, scope), Scope: scope}
	made, err := w.Store.CreateHook(ctx, admin.ManagedBy(ctx, c.Name), h)
	if err != nil {
		return made, err
	}
	return made, w.Store.Load(ctx)
}
