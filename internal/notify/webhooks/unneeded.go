package webhooks

import (
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/secret"
)

// removeUnneeded deletes on the platform the webhook of a repository that nothing
// here needs any more. answers is as of Check.
func (w *Watch) removeUnneeded(ctx context.Context, p notify.RepositoryWebhook) (answers bool, err error) {
	p.CheckedAt = w.Clock()
	deleted := false
	var asked error
	if p.AuthorizationID == 0 {
		asked = fault.New(fault.Conflict, "The account that it was created with is no longer authorised.")
	} else {
		asked = w.Use(ctx, p.AuthorizationID, func(c *notify.Connection, token secret.Value) error {
			deleted, err = w.deleteOwn(ctx, c, token, &p)
			return err
		})
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if asked != nil {
		p.Reason = fault.As(asked).Message
		return aboutOne(asked), w.Store.SaveRepositoryWebhook(ctx, p, nil)
	}
	if !deleted {
		return true, w.Store.ForgetRepositoryWebhook(ctx, p, nil)
	}
	w.Log.Info("a webhook was deleted on the platform, since no rule is left", "connection", p.Connection, "project", p.At.ProjectKey,
		"repository", p.At.RepositoryKey)
	by := admin.ManagedBy(ctx, p.Connection)
	return true, w.Store.ForgetRepositoryWebhook(ctx, p, &by)
}

// deleteOwn deletes the webhook if it is as it was created: one that people have
// call something else is theirs.
func (w *Watch) deleteOwn(
	ctx context.Context, c *notify.Connection, token secret.Value, p *notify.RepositoryWebhook,
) (deleted bool, err error) {
	if !c.ManageWebhooks {
		return false, fault.New(fault.Conflict, "The connection %s no longer lets Outrigger change webhooks on the platform.", c.Name)
	}
	there, err := w.Cloud.Webhooks(ctx, c, token, p.At)
	if err != nil {
		return false, err
	}
	ours := slices.ContainsFunc(there, func(one cloud.Webhook) bool {
		hook, ok := notify.HookCalled(w.BaseURL, c.Name, one.URL)
		return one.UUID == p.RemoteID && ok && hook == p.Hook
	})
	if !ours {
		return false, nil
	}
	return true, w.Cloud.DeleteWebhook(ctx, c, token, p.At, p.RemoteID)
}
