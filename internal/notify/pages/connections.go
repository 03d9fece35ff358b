package pages

import (
	"fmt"
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

const (
	connectionPages   = "/notifications/connections"
	newConnectionPage = "/notifications/new-connection" // a connection may be called new
)

func (p *Pages) registerConnections(c *console.Console) {
	one := connectionPages + "/{name}"
	c.Handle("GET "+connectionPages, console.SignedIn, p.listConnections, "connections")
	c.Handle("GET "+newConnectionPage, console.Needs(identity.SysAdmin), p.blankConnection, "connection-form")
	c.Handle("POST "+newConnectionPage, console.Needs(identity.SysAdmin), console.WithForm(p.createConnection), "connection-form",
		"hook-secret")
	c.Handle("GET "+one, console.SignedIn, console.Of(p.connectionOfPath, p.showConnection), "connection")
	c.Handle("GET "+one+"/edit", console.Needs(identity.SysAdmin), console.Of(p.storedConnection, p.editConnection), "connection-form")
	c.Handle("POST "+one+"/edit", console.Needs(identity.SysAdmin), console.FormOf(p.storedConnection, p.saveConnection), "connection-form")
	c.Handle("POST "+one+"/test", console.Needs(identity.SysAdmin), p.testConnection)
	c.Handle("GET "+one+"/delete", console.Needs(identity.SysAdmin), console.Of(p.storedConnection, p.confirmDeleteConnection))
	c.Handle("POST "+one+"/delete", console.Needs(identity.SysAdmin), p.deleteConnection)
	c.Handle("GET "+one+"/new-hook", console.SignedIn, console.Of(p.connectionOfPath, p.blankHook), "hook-form")
	c.Handle("POST "+one+"/new-hook", console.SignedIn, console.FormOf(p.connectionOfPath, p.createHook), "hook-form", "hook-secret")
	for _, hook := range []string{one, one + "/hooks/{hook}"} { // its own, and one with a name
		c.Handle("GET "+hook+"/rotate", console.SignedIn, console.Of(p.hookOfPath, p.confirmRotate))
		c.Handle("POST "+hook+"/rotate", console.SignedIn, p.rotateHook, "hook-secret")
	}
	c.Handle("GET "+one+"/hooks/{hook}/delete", console.SignedIn, console.Of(p.hookOfPath, p.confirmDeleteHook))
	c.Handle("POST "+one+"/hooks/{hook}/delete", console.SignedIn, p.deleteHook)
}

type connectionRow struct {
	notify.Connection
	KindLabel string
	Hooks     int
	Coverage  *coverageView
}

func (p *Pages) listConnections(r *http.Request) (console.Response, error) {
	who := identity.From(r.Context())
	visible, err := p.Hooks.Visible(r.Context())
	if err != nil {
		return nil, err
	}
	view := struct {
		Rows []connectionRow
		All  bool
	}{All: who.May(identity.SysAdmin, identity.Resource{})}
	covered, err := p.coverage(r.Context())
	if err != nil {
		return nil, err
	}
	for _, c := range visible {
		view.Rows = append(view.Rows, connectionRow{c.Connection, kindLabel(c.Kind), len(c.Hooks), coverageFor(covered, c.Name)})
	}
	page := console.Page{Template: "connections", Title: "Connections", Data: view}
	if view.All {
		page.Actions = []console.Action{{Label: "Add a connection", Path: newConnectionPage}}
	}
	return page, nil
}

type hookRow struct {
	*notify.Hook
	URL, Rotate, Delete string // the last two are pages
	OldSigns            bool   // the secret before the last rotation is still valid
}

func (p *Pages) showConnection(r *http.Request, c *admin.ConnectionInfo) (_ console.Response, err error) {
	who := identity.From(r.Context())
	view := struct {
		*notify.Connection
		KindLabel string
		URL       string
		All       bool
		Coverage  *coverageView
		Rows      []hookRow
		Refused   []refusedRow
	}{Connection: &c.Connection, KindLabel: kindLabel(c.Kind), URL: rest.Link(r.Context(), notify.HookPath(c.Name, "")),
		All: who.May(identity.SysAdmin, identity.Resource{})}
	if view.Coverage, err = p.coverageOf(r.Context(), c.Name); err != nil {
		return nil, err
	}
	if view.Refused, err = p.refused(r.Context(), c.Name); err != nil {
		return nil, err
	}
	for _, h := range c.Hooks {
		view.Rows = append(view.Rows, hookRow{h, rest.Link(r.Context(), notify.HookPath(h.Connection, h.Name)), hookPages(h) + "/rotate",
			hookPages(h) + "/delete", h.PreviousSigns(p.Clock())})
	}
	page := console.Page{
		Template: "connection", Title: "Connection " + c.Name, Data: view,
		Up:      []console.Link{{Label: "Connections", Path: connectionPages}},
		Actions: []console.Action{{Label: "Add a hook", Path: connectionPage(c.Name) + "/new-hook"}},
	}
	if view.All && !c.File {
		page.Actions = append(page.Actions, console.Action{Label: "Edit", Path: connectionPage(c.Name) + "/edit"})
	}
	return page, nil
}

// connectionOfPath returns the connection of the path to whom it concerns.
func (p *Pages) connectionOfPath(r *http.Request) (*admin.ConnectionInfo, error) {
	return p.Hooks.VisibleConnection(r.Context(), r.PathValue("name"))
}

func connectionPage(name string) string { return connectionPages + "/" + name }

// kinds of platforms, as people call them.
var kinds = []console.Option{
	{Value: "bitbucket-dc", Label: "Bitbucket Data Center"},
	{Value: notify.KindBitbucketCloud, Label: "Bitbucket Cloud"},
}

func kindLabel(kind string) string {
	for _, k := range kinds {
		if k.Value == kind {
			return k.Label
		}
	}
	return kind
}

// connectionForm is the form of a connection; Stored is nil for a new one.
type connectionForm struct {
	*console.Form
	Stored *notify.Connection
	Kind   string
	Cloud  bool // the kind is of the cloud edition, whose fields are others
	Mask   string
	Client string // mask of the OAuth client's secret
	Back   string
}

func connectionFormPage(form *console.Form, stored *notify.Connection) console.Page {
	data := connectionForm{Form: form, Stored: stored, Kind: form.Get("kind"), Back: connectionPages}
	page := console.Page{Title: "Add a connection", Template: "connection-form",
		Up: []console.Link{{Label: "Connections", Path: connectionPages}}}
	if stored == nil {
		for _, k := range kinds {
			page.Tabs = append(page.Tabs, console.Tab{Label: k.Label, Path: newConnectionPage + console.Query("kind", k.Value),
				Current: k.Value == data.Kind})
		}
	} else {
		data.Kind = stored.Kind
		data.Back, page.Title = connectionPage(stored.Name), "Edit the connection "+stored.Name
		page.Up = append(page.Up, console.Link{Label: stored.Name, Path: data.Back})
		if !stored.Token.IsZero() {
			data.Mask = "••••"
		}
		if !stored.OAuthClientSecret.IsZero() {
			data.Client = "••••"
		}
	}
	data.Cloud = data.Kind == notify.KindBitbucketCloud
	page.Data = data
	return page
}

func (p *Pages) blankConnection(r *http.Request) (console.Response, error) {
	form := console.NewForm().Set("kind", kinds[0].Value)
	if r.URL.Query().Get("kind") == notify.KindBitbucketCloud {
		form.Set("kind", notify.KindBitbucketCloud).Set("baseUrl", "https://bitbucket.org")
	}
	return connectionFormPage(form, nil), nil
}

func connectionDraft(form *console.Form) notify.Connection {
	c := notify.Connection{Token: secret.New(form.Raw("token")), OAuthClientSecret: secret.New(form.Raw("oauthClientSecret"))}
	form.Read(&c)
	return c
}

func (p *Pages) createConnection(r *http.Request, form *console.Form) (console.Response, error) {
	c, key, err := p.Hooks.CreateConnection(r.Context(), connectionDraft(form), nil)
	if err != nil {
		return connectionFormPage(form, nil), err
	}
	return secretPage(r, "The connection "+c.Name, notify.Hook{Connection: c.Name, Secret: key}), nil
}

// storedConnection returns the connection of the path to a SYS_ADMIN.
func (p *Pages) storedConnection(r *http.Request) (*notify.Connection, error) {
	return p.Hooks.Connection(r.Context(), r.PathValue("name"))
}

func (p *Pages) editConnection(_ *http.Request, c *notify.Connection) (console.Response, error) {
	return connectionFormPage(console.NewForm().Fill(*c), c), nil
}

func (p *Pages) saveConnection(r *http.Request, form *console.Form, stored *notify.Connection) (console.Response, error) {
	draft := connectionDraft(form)
	draft.Name = stored.Name
	if _, err := p.Hooks.SaveConnection(r.Context(), draft, nil); err != nil {
		return connectionFormPage(form, stored), late(form, err)
	}
	return console.Redirect{To: connectionPage(stored.Name), Flash: "The connection " + stored.Name + " is saved."}, nil
}

func (p *Pages) testConnection(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	platform, err := p.Hooks.Test(r.Context(), name)
	to := console.Redirect{To: connectionPage(name), Flash: "The platform answers: it is " + platform + "."}
	return to.OrSay(err, console.Bad, fault.Unavailable)
}

func (p *Pages) confirmDeleteConnection(r *http.Request, c *notify.Connection) (console.Response, error) {
	created, err := p.Webhooks.Created(r.Context(), c.Name)
	return console.Confirm{
		Title: "Delete the connection " + c.Name + "?", Text: "The platform's webhooks are refused from then on." + leftThere(created),
		Verb: "Delete the connection", Keep: "Keep the connection",
		Losses: []string{
			"its hooks, with their secrets", "the credentials of its account", "the permissions of users in its projects and repositories",
			"the chat accounts of its users",
		}, Back: connectionPage(c.Name),
	}, err
}

// leftThere says which webhooks that Outrigger created stay on the platform.
func leftThere(created []string) string {
	const named = 5 // as many as are read
	switch n := len(created); {
	case n == 0:
		return ""
	case n > named:
		return fmt.Sprintf(" The webhooks that Outrigger created stay on the platform, in %s and %d more; delete them there.",
			strings.Join(created[:named], ", "), n-named)
	default:
		return " The webhooks that Outrigger created stay on the platform, in " + strings.Join(created, ", ") + "; delete them there."
	}
}

func (p *Pages) deleteConnection(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	err := p.Hooks.DeleteConnection(r.Context(), name, 0)
	return console.Redirect{To: connectionPages, Flash: "The connection " + name + " is deleted."}, err
}
