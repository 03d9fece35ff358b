package webhooks

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
)

// list lists the projects of a connection; false where the platform did not
// answer.
func (w *Watch) list(ctx context.Context, c *notify.Connection) (ok bool, err error) {
	before, err := w.Store.ProjectCheck(ctx, c.Name)
	if err != nil {
		return false, err
	}
	now := w.Clock()
	projects, err := w.Platform.Projects(ctx, c)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		if before.Reason == "" {
			w.Log.Warn("the platform cannot be asked for its projects", "connection", c.Name, "error", err)
		}
		failed := notify.ProjectCheck{At: now, Listed: before.Listed, Reason: fault.As(err).Message}
		return false, w.Store.NoteProjectCheck(ctx, c.Name, failed)
	}
	if err := w.confirmRenames(ctx, c, projects); err != nil {
		return false, err
	}
	if err := w.Store.ReplaceProjects(ctx, c.Name, projects, now); err != nil {
		return false, err
	}
	return true, w.Store.NoteProjectCheck(ctx, c.Name, notify.ProjectCheck{At: now, Listed: now})
}

// Check looks at the webhook of a project, creates it where it is missing and
// the connection lets it, and keeps what it found. answers is false where the
// platform as a whole does not answer, so that there is no sense in asking on.
// An error is about our own database.
func (w *Watch) Check(ctx context.Context, c *notify.Connection, p notify.ProjectWebhook) (answers bool, err error) {
	before := p.SetAt
	p.CheckedAt = w.Clock()
	asked := w.find(ctx, c, &p)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if asked != nil {
		p.State, p.Reason = notify.WebhookUnknown, fault.As(asked).Message
	}
	return asked == nil || client.Refused(asked), w.Store.SaveWebhook(ctx, p, writer(ctx, c.Name, before, p.SetAt))
}

// find finds the webhook of a project that calls a hook here.
func (w *Watch) find(ctx context.Context, c *notify.Connection, p *notify.ProjectWebhook) error {
	there, err := w.Platform.Webhooks(ctx, c, p.Project.Key)
	if err != nil {
		return err
	}
	p.State, p.ID, p.Hook, p.Reason, p.Health = notify.WebhookMissing, 0, "", "", notify.WebhookHealth{}
	for _, one := range there {
		calls, ok := w.judge(c, notify.Scope{ProjectKey: p.Project.Key}, one.URL, one.Active)
		if !ok || p.State == notify.WebhookSends {
			continue
		}
		if p.Reason = calls.reason; calls.state != notify.WebhookMissing {
			p.State, p.ID, p.Hook = calls.state, one.ID, calls.hook
		}
	}
	if err := w.manage(ctx, c, p); err != nil {
		return err
	}
	if p.ID == 0 {
		p.SetAt, p.SecretMark = time.Time{}, ""
		return nil
	}
	if p.Health, err = w.Platform.Health(ctx, c, p.Project.Key, p.ID); err != nil && !client.Refused(err) {
		return err
	}
	return nil // older versions do not count
}

// manage creates the webhook of a project that has none, and tells the platform
// a new secret of one that it created.
func (w *Watch) manage(ctx context.Context, c *notify.Connection, p *notify.ProjectWebhook) error {
	if !c.ManageWebhooks {
		return nil
	}
	h, _ := w.Store.Platforms().Hook(c.Name, p.Hook)
	switch {
	case p.State == notify.WebhookMissing && p.Reason != "": // one is there that calls another hook
		return nil
	case p.State == notify.WebhookMissing && w.Local:
		p.Reason = noAddress
		return nil
	case p.State == notify.WebhookMissing:
		made, err := w.hookOf(ctx, c, notify.Scope{ProjectKey: p.Project.Key})
		if err != nil {
			return err
		}
		h = &made
	case p.SetAt.IsZero() || h == nil || told(p.SecretMark, h):
		return nil
	}
	now := w.Clock()
	put, err := w.Platform.PutWebhook(ctx, c, p.Project.Key, notify.Webhook{
		ID: p.ID, URL: w.BaseURL + notify.HookPath(c.Name, h.Name), Secret: h.Secret,
	})
	if err != nil {
		return err
	}
	if p.ID == 0 {
		w.Log.Info("a webhook was created on the platform", "connection", c.Name, "project", p.Project.Key, "hook", h.Name)
	}
	p.State, p.ID, p.Hook, p.SetAt, p.SecretMark, p.Reason = notify.WebhookSends, put.ID, h.Name, now, mark(h), ""
	return nil
}
