package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// hookPages is where the pages of a hook are.
func hookPages(h *notify.Hook) string {
	if h.Name == "" {
		return connectionPage(h.Connection)
	}
	return connectionPage(h.Connection) + "/hooks/" + h.Name
}

func hookTitle(h *notify.Hook) string {
	if h.Name == "" {
		return "the connection " + h.Connection
	}
	return "the hook " + h.Name
}

func upTo(connection string) []console.Link {
	return []console.Link{{Label: "Connections", Path: connectionPages}, {Label: connection, Path: connectionPage(connection)}}
}

// secretPage is the one page on which a hook's secret can be seen.
func secretPage(r *http.Request, title string, h notify.Hook) console.Page {
	return console.Page{
		Template: "hook-secret", Title: title, Up: upTo(h.Connection),
		Data: struct {
			notify.Hook
			URL, Plain, Back string
		}{h, rest.Link(r.Context(), notify.HookPath(h.Connection, h.Name)), h.Secret.Reveal(), connectionPage(h.Connection)},
	}
}

// hookForm is the form of a new hook.
type hookForm struct {
	*console.Form
	Back string
}

func hookFormPage(form *console.Form, connection string) console.Page {
	return console.Page{
		Template: "hook-form", Title: "Add a hook", Up: upTo(connection), Data: hookForm{form, connectionPage(connection)},
	}
}

func (p *Pages) blankHook(_ *http.Request, c *admin.ConnectionInfo) (console.Response, error) {
	return hookFormPage(console.NewForm(), c.Name), nil
}

func (p *Pages) createHook(r *http.Request, form *console.Form, c *admin.ConnectionInfo) (console.Response, error) {
	h, err := p.Hooks.Create(r.Context(), notify.Hook{
		Connection: c.Name, Name: form.Get("name"), Scope: notify.Scope{ProjectKey: form.Get("projectKey"),
			RepositoryKey: form.Get("repositoryKey")},
	})
	if err != nil {
		return hookFormPage(form, c.Name), err
	}
	return secretPage(r, "The hook "+h.Name, h), nil
}

func (p *Pages) hookOfPath(r *http.Request) (*notify.Hook, error) {
	return p.Hooks.Get(r.Context(), r.PathValue("name"), r.PathValue("hook"))
}

func (p *Pages) confirmRotate(_ *http.Request, h *notify.Hook) (console.Response, error) {
	confirm := console.Confirm{
		Title: "Make a new secret for " + hookTitle(h) + "?", Verb: "Make a new secret", Keep: "Keep the secret",
		Up: upTo(h.Connection), Back: connectionPage(h.Connection),
		Text: "It is shown once. Enter it on the platform within 7 days: until then the current secret stays valid.",
	}
	if h.SecretLost() {
		confirm.Text = "It is shown once. Enter it on the platform. The present secret is lost, so webhooks are refused until then."
	}
	if h.PreviousSigns(p.Clock()) {
		until := h.PreviousUntil.UTC().Format("2006-01-02 15:04 UTC")
		confirm.Losses = []string{"the previous secret, which would have been valid until " + until + " and ends at once"}
	}
	return confirm, nil
}

func (p *Pages) rotateHook(r *http.Request) (console.Response, error) {
	h, err := p.Hooks.Rotate(r.Context(), r.PathValue("name"), r.PathValue("hook"))
	if err != nil {
		return nil, err
	}
	return secretPage(r, "A new secret for "+hookTitle(&h), h), nil
}

func (p *Pages) confirmDeleteHook(_ *http.Request, h *notify.Hook) (console.Response, error) {
	return console.Confirm{
		Title: "Delete " + hookTitle(h) + "?", Text: "The platform's webhooks to it are refused from then on. Delete the webhook on the " +
			"platform too.",
		Losses: []string{"its secret"}, Verb: "Delete the hook", Keep: "Keep the hook",
		Up: upTo(h.Connection), Back: connectionPage(h.Connection),
	}, nil
}

func (p *Pages) deleteHook(r *http.Request) (console.Response, error) {
	connection, name := r.PathValue("name"), r.PathValue("hook")
	err := p.Hooks.Delete(r.Context(), connection, name)
	return console.Redirect{To: connectionPage(connection), Flash: "The hook " + name + " is deleted."}, err
}
