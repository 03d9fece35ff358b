package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// repositoryWebhookView says whether the events of a repository of the cloud
// edition come here, and what to do where they do not.
type repositoryWebhookView struct {
	notify.RepositoryWebhook
	Badge    console.Badge
	Sentence string
	URL      string // to enter on the platform
	// What may be done, by the path that it is posted to or is a page of: the
	// webhook created, a hook made, its secret made anew.
	Create, MakeHook, Rotate string
}

func (p *Pages) repositoryWebhook(r *http.Request, at rulePlace) (*repositoryWebhookView, error) {
	ref := notify.RepositoryRef{ProjectKey: at.Workspace, RepositoryKey: at.Repository}
	w, hook, err := p.Webhooks.OfRepository(r.Context(), at.Connection, ref)
	if err != nil {
		return nil, err
	}
	manages := p.Webhooks.ManagesRepositories(at.Connection)
	view := &repositoryWebhookView{RepositoryWebhook: *w}
	view.Badge = repositoryWebhookBadge(w.State)
	switch w.State {
	case notify.WebhookSends:
		view.Sentence = "The repository sends its events here."
	case notify.WebhookInactive:
		view.Sentence = "The repository's webhook is switched off on the platform."
	case notify.WebhookMissing:
		view.Sentence = "The repository does not send its events here. " + w.Reason
	case notify.WebhookUnknown:
		view.Sentence = w.Reason
	case notify.WebhookUnneeded:
		view.Sentence = "No rule needs the webhook that Outrigger created here any more. Outrigger deletes it on the platform within a minute."
		if w.Reason != "" {
			view.Badge.Tone = console.Warn
			view.Sentence = "No rule needs the webhook that Outrigger created here any more, but it could not be deleted on the platform: " +
				w.Reason + " Outrigger tries again every hour; you can also delete it in the repository's settings on the platform."
		}
		return view, nil
	default:
		view.Sentence = "Outrigger looks for it within a minute after you save the first rule with an authorised account."
	}
	if w.State == notify.WebhookSends {
		return view, nil
	}
	switch {
	case manages && w.AuthorizationID != 0:
		view.Create = cloudRulesPath + "/webhook" + at.query()
	case manages:
	case hook == nil:
		view.MakeHook = cloudRulesPath + "/hook" + at.query()
	default:
		view.Sentence += " Create a webhook in the repository's settings on the platform, with this URL and the hook's secret."
		view.URL, view.Rotate = rest.Link(r.Context(), notify.HookPath(hook.Connection, hook.Name)), hookPages(hook)+"/rotate"
	}
	return view, nil
}

// webhookAfter says what becomes of the webhook of a repository with a rule that
// is deleted; "" where that is not its last one, or there is nothing to say.
func (p *Pages) webhookAfter(r *http.Request, rule *notify.Rule) (string, error) {
	w, _, err := p.Webhooks.OfRepository(r.Context(), rule.Connection, notify.RepositoryRef{ProjectKey: rule.ProjectKey,
		RepositoryKey: rule.RepositoryKey})
	switch {
	case err != nil || w.Rules != 1 || w.RemoteID == "":
		return "", err
	case w.GoesWithLastRule() && p.Webhooks.ManagesRepositories(rule.Connection):
		return " It is the last rule of the repository: Outrigger also deletes the webhook that it created there on the platform.", nil
	case w.Created() && w.Reports > 0:
		return " It is the last rule of the repository. The webhook that Outrigger created there stays on the platform: with it the " +
			"repository's activity reports follow when the repository is renamed.", nil
	}
	return " It is the last rule of the repository. The repository's webhook stays on the platform; delete it there if nothing " +
		"else needs it.", nil
}

// repositoryWebhookBadge says whether a repository's webhook sends, as far as it is known.
func repositoryWebhookBadge(s notify.WebhookState) console.Badge {
	switch s {
	case notify.WebhookSends:
		return console.Badge{Tone: console.Good, Text: "sends"}
	case notify.WebhookInactive:
		return console.Badge{Tone: console.Bad, Text: "inactive"}
	case notify.WebhookMissing:
		return console.Badge{Tone: console.Bad, Text: "missing"}
	case notify.WebhookUnneeded:
		return console.Badge{Tone: console.Quiet, Text: "not needed"}
	case notify.WebhookUnknown:
		return console.Badge{Tone: console.Warn, Text: "unknown"}
	}
	return console.Badge{Tone: console.Quiet, Text: "not checked yet"}
}

// createRepositoryWebhook creates the webhook on the platform.
func (p *Pages) createRepositoryWebhook(r *http.Request, at rulePlace) (console.Response, error) {
	to := console.Redirect{To: at.list(), Flash: "The repository sends its events here."}
	err := p.Webhooks.CreateOfRepository(r.Context(), at.Connection, notify.RepositoryRef{ProjectKey: at.Workspace,
		RepositoryKey: at.Repository})
	return to.OrSay(err, console.Bad, fault.Unavailable, fault.Conflict, fault.RateLimited)
}

// createRepositoryHook makes the hook of the repository, and shows its URL and
// its secret, to be entered on the platform.
func (p *Pages) createRepositoryHook(r *http.Request, at rulePlace) (console.Response, error) {
	h, err := p.Hooks.CreateFor(r.Context(), at.Connection, notify.Scope{ProjectKey: at.Workspace, RepositoryKey: at.Repository})
	if err != nil {
		return nil, err
	}
	page := secretPage(r, "The hook of "+at.Name(), h)
	page.Up = []console.Link{{Label: "Cloud", Path: cloudPath}, {Label: at.Name(), Path: at.list()}}
	return page, nil
}
