package pages

import (
	"context"
	"fmt"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

func (p *Pages) registerWebhooks(c *console.Console) {
	path := connectionPages + "/{name}/webhooks"
	c.Handle("GET "+path, console.Needs(identity.SysAdmin), p.listWebhooks, "webhooks")
	c.Handle("POST "+path+"/check", console.Needs(identity.SysAdmin), p.checkWebhooks)
	c.Handle("POST "+path+"/projects/{project}", console.Needs(identity.SysAdmin), p.createWebhook)
}

// webhookRow is a project in the list.
type webhookRow struct {
	notify.ProjectWebhook
	Badge  console.Badge
	Create bool // the button is there
}

func webhookBadge(w *notify.ProjectWebhook) console.Badge {
	switch {
	case w.Failing():
		return console.Badge{Text: "failing", Tone: console.Bad}
	case w.State == notify.WebhookSends:
		return console.Badge{Text: "sends events", Tone: console.Good}
	case w.State == notify.WebhookMissing:
		return console.Badge{Text: "no webhook", Tone: console.Warn}
	case w.State == notify.WebhookInactive:
		return console.Badge{Text: "switched off", Tone: console.Warn}
	case w.State == notify.WebhookUnknown:
		return console.Badge{Text: "not known", Tone: console.Warn}
	}
	return console.Badge{Text: "not checked yet"}
}

func (p *Pages) listWebhooks(r *http.Request) (console.Response, error) {
	name, after := r.PathValue("name"), r.URL.Query().Get("after")
	list, err := p.Webhooks.List(r.Context(), name, after, pageSize+1)
	if err != nil {
		return nil, err
	}
	c, err := p.Hooks.Connection(r.Context(), name)
	if err != nil {
		return nil, err
	}
	view := struct {
		*notify.Connection
		Coverage *coverageView
		Rows     []webhookRow
		Pager    console.Pager
	}{Connection: c}
	if view.Coverage, err = p.coverageOf(r.Context(), name); err != nil {
		return nil, err
	}
	path := connectionPage(name) + "/webhooks"
	list, view.Pager = console.Paged(list, pageSize, path, after == "", func(w notify.ProjectWebhook) string { return w.Project.Key })
	for i := range list {
		view.Rows = append(view.Rows, webhookRow{list[i], webhookBadge(&list[i]), c.ManageWebhooks && list[i].ID == 0})
	}
	return console.Page{Template: "webhooks", Title: "Webhooks of " + name, Data: view, Up: upTo(name)}, nil
}

// coverageView says how many projects of a connection send their events here.
type coverageView struct{ notify.Coverage }

// Sentence is that in words.
func (c *coverageView) Sentence() string {
	projects := "projects send"
	if c.Projects == 1 {
		projects = "project sends"
	}
	s := fmt.Sprintf("%d of %d %s events here", c.Sending, c.Projects, projects)
	if c.Failing > 0 {
		fail := "fail"
		if c.Failing == 1 {
			fail = "fails"
		}
		s += fmt.Sprintf("; %d of these webhooks %s", c.Failing, fail)
	}
	if c.Unchecked > 0 {
		s += fmt.Sprintf("; %d not checked yet", c.Unchecked)
	}
	return s + "."
}

// notices are what needs attention.
func (c *coverageView) notices() (list []console.Notice) {
	link := connectionPage(c.Connection) + "/webhooks"
	show := console.Remedy{Label: "Show the webhooks", Of: c.Connection, Path: link}
	switch {
	case c.Failing == 1:
		list = append(list, console.Notice{Kind: "failing_webhooks", Key: link + " failing",
			Text: "A webhook of the platform “" + c.Connection + "” fails, so events of its project are lost. The platform counts its failures.",
			Link: link, Tone: console.Bad, Since: c.FailingSince, Remedy: show})
	case c.Failing > 1:
		list = append(list, console.Notice{Kind: "failing_webhooks", Key: link + " failing",
			Text: fmt.Sprintf("%d webhooks of the platform “%s” fail, so events of their projects are lost. The platform counts their failures.",
				c.Failing, c.Connection), Link: link, Tone: console.Bad, Since: c.FailingSince, Remedy: show})
	}
	if c.Reason != "" {
		list = append(list, console.Notice{Kind: "webhooks_unknown", Key: link, Text: c.Reason, Link: link, Since: c.CheckedAt, Remedy: show})
	}
	return list
}

// coverage returns that of every connection that can tell, to who may see it: nil
// for others.
func (p *Pages) coverage(ctx context.Context) ([]*coverageView, error) {
	if !identity.From(ctx).May(identity.Admin, identity.Resource{}) {
		return nil, nil
	}
	all, err := p.Webhooks.Coverage(ctx)
	var views []*coverageView
	for _, c := range all {
		views = append(views, &coverageView{c})
	}
	return views, err
}

// coverageOf returns that of one connection; nil where it cannot tell.
func (p *Pages) coverageOf(ctx context.Context, connection string) (*coverageView, error) {
	all, err := p.coverage(ctx)
	return coverageFor(all, connection), err
}

func coverageFor(all []*coverageView, connection string) *coverageView {
	for _, c := range all {
		if c.Connection == connection {
			return c
		}
	}
	return nil
}

func (p *Pages) checkWebhooks(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	err := p.Webhooks.CheckAll(r.Context(), name)
	return console.Redirect{To: connectionPage(name) + "/webhooks", Flash: "The projects are being checked again, 20 per minute."}, err
}

func (p *Pages) createWebhook(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	to := console.Redirect{To: connectionPage(name) + "/webhooks"}
	w, err := p.Webhooks.Create(r.Context(), name, r.PathValue("project"))
	if err != nil {
		return to.OrSay(err, console.Bad, fault.Unavailable, fault.Conflict)
	}
	to.Flash = "The project " + w.Project.Key + " sends its events here."
	return to, nil
}
