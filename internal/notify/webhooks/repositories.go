package webhooks

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// repositories looks at the repositories of cloud platforms that are due, those
// included whose webhook is not needed any more, under
// the lease, which it takes where nothing was due before. A platform that does
// not answer is left alone for the rest of the round.
func (w *Watch) repositories(ctx context.Context, lease **db.Lease) (looked int, err error) {
	due, err := w.dueRepositories(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if *lease == nil {
		if *lease, err = w.Leases.Acquire(ctx, leaseName); err != nil || *lease == nil {
			return 0, err
		}
		if due, err = w.dueRepositories(ctx); err != nil { // another node may have been at it
			return 0, err
		}
	}
	away := map[string]bool{}
	for _, one := range due {
		if away[one.Connection] {
			continue
		}
		if !(*lease).Good(askTime) {
			return looked, nil
		}
		look := w.CheckRepository
		if one.State == notify.WebhookUnneeded && one.Rules == 0 {
			look = w.removeUnneeded
		}
		answers, err := look(ctx, one)
		if err != nil {
			return looked, err
		}
		looked++
		away[one.Connection] = !answers
	}
	return looked, nil
}

func (w *Watch) dueRepositories(ctx context.Context) ([]notify.RepositoryWebhook, error) {
	now := w.Clock()
	due, err := w.Store.DueRepositories(ctx, now.Add(-checkEvery), now.Add(-troubledEvery), atOnce)
	if err != nil {
		return nil, err
	}
	unneeded, err := w.Store.UnneededWebhooks(ctx, now.Add(-troubledEvery), atOnce)
	return append(due, unneeded...), err
}

// CheckRepository is Check for a repository of a cloud platform.
func (w *Watch) CheckRepository(ctx context.Context, p notify.RepositoryWebhook) (answers bool, err error) {
	before := p.SetAt
	p.CheckedAt = w.Clock()
	asked := w.Use(ctx, p.AuthorizationID, func(c *notify.Connection, token secret.Value) error {
		return w.findOfRepository(ctx, c, token, &p)
	})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if asked != nil {
		p.State, p.Reason = notify.WebhookUnknown, fault.As(asked).Message
	}
	return asked == nil || aboutOne(asked), w.Store.SaveRepositoryWebhook(ctx, p, writer(ctx, p.Connection, before, p.SetAt))
}

// aboutOne reports whether err is about this repository or its account alone:
// others may well be answered.
func aboutOne(err error) bool {
	status := restclient.StatusOf(err)
	return fault.Is(err, fault.Conflict) || status >= 400 && status < 500 && status != http.StatusTooManyRequests
}

// findOfRepository finds the webhook of a repository that calls a hook here, and
// creates it, or puts it right, where the connection lets it.
func (w *Watch) findOfRepository(ctx context.Context, c *notify.Connection, token secret.Value, p *notify.RepositoryWebhook) error {
	there, err := w.Cloud.Webhooks(ctx, c, token, p.At)
	if err != nil {
		return err
	}
	wrote := p.RemoteID // by this program, where SetAt says so
	p.State, p.RemoteID, p.Hook, p.Reason = notify.WebhookMissing, "", "", ""
	signs := true
	for _, one := range there {
		calls, ok := w.judge(c, p.At, one.URL, one.Active)
		if !ok || p.State == notify.WebhookSends {
			continue
		}
		if p.Reason = calls.reason; calls.state != notify.WebhookMissing {
			p.State, p.RemoteID, p.Hook = calls.state, one.UUID, calls.hook
		}
		signs = one.SecretSet
	}
	if p.RemoteID != wrote || p.RemoteID == "" {
		p.SetAt, p.SecretMark = time.Time{}, ""
	}
	return w.manageOfRepository(ctx, c, token, p, signs)
}

// manageOfRepository creates the webhook of a repository that has none. One that
// it created it switches on again, and tells a new secret.
func (w *Watch) manageOfRepository(
	ctx context.Context, c *notify.Connection, token secret.Value, p *notify.RepositoryWebhook, signs bool,
) error {
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
	case p.State != notify.WebhookMissing &&
		(p.SetAt.IsZero() || h == nil || h.Secret.IsZero() ||
			p.State == notify.WebhookSends && signs && told(p.SecretMark, h)):
		return nil
	}
	if h == nil || h.Secret.IsZero() || !p.At.Holds(h.Scope) { // the secret of a wider hook would sign for other repositories
		made, err := w.hookOf(ctx, c, p.At)
		if err != nil {
			return err
		}
		h = &made
	}
	now := w.Clock()
	is, err := w.Cloud.PutWebhook(ctx, c, token, p.At,
		cloud.Webhook{UUID: p.RemoteID, URL: w.BaseURL + notify.HookPath(c.Name, h.Name), Secret: h.Secret})
	if err != nil {
		return err
	}
	if p.RemoteID == "" {
		w.Log.Info("a webhook was created on the platform", "connection", c.Name, "project", p.At.ProjectKey,
			"repository", p.At.RepositoryKey, "hook", h.Name)
	}
	p.State, p.RemoteID, p.Hook, p.SetAt, p.SecretMark, p.Reason = notify.WebhookSends, is.UUID, h.Name, now, mark(h), ""
	return nil
}
