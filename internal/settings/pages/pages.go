// Package pages is the settings in the console.
package pages

import (
	"embed"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/egress"
	"outrigger/internal/identity"
	"outrigger/internal/settings"
)

//go:embed templates
var templates embed.FS

// Path is the page.
const Path = "/notifications/settings"

// Pages shows and saves what a Store keeps.
type Pages struct {
	Store  *settings.Store
	Client *egress.Client
	// Trouble says in a sentence that the proxy in use lets nothing through; ""
	// while it does. nil: it is not known.
	Trouble func() string
}

// Register adds the page.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(console.Sub(templates, "templates"))
	c.AddNav(console.Nav{Section: "Notifications", Label: "Settings", Path: Path, Visible: isAdmin})
	c.Handle("GET "+Path, console.Needs(identity.Admin), p.show, "settings")
	c.Handle("POST "+Path, console.Needs(identity.SysAdmin), console.WithForm(p.submit), "settings")
}

func isAdmin(p *identity.Principal) bool { return p.May(identity.Admin, identity.Resource{}) }

// view is the form, and what came of a test.
type view struct {
	*console.Form
	Stored  *settings.Settings
	Trial   string
	Trouble string
	MaySet  bool
}

func (p *Pages) page(r *http.Request, form *console.Form, stored *settings.Settings, trial string) console.Page {
	v := view{Form: form, Stored: stored, Trial: trial, MaySet: identity.From(r.Context()).May(identity.SysAdmin, identity.Resource{})}
	if p.Trouble != nil {
		v.Trouble = p.Trouble()
	}
	return console.Page{Template: "settings", Title: "Settings", Data: v}
}

func (p *Pages) show(r *http.Request) (console.Response, error) {
	stored, err := p.Store.Read(r.Context())
	if err != nil {
		return nil, err
	}
	form := console.NewForm().Set("proxyUrl", stored.ProxyURL()).Set("url", settings.DefaultTarget).
		Set("version", strconv.FormatInt(stored.Version, 10))
	return p.page(r, form, stored, ""), nil
}

// submit saves the form, or tries what is typed in it without saving.
func (p *Pages) submit(r *http.Request, form *console.Form) (console.Response, error) {
	ctx := r.Context()
	stored, err := p.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	if form.Get("do") == "test" {
		trial, err := p.Store.Try(ctx, p.Client, form.Get("proxyUrl"), form.Get("url"), nil)
		return p.page(r, form, stored, trial), err
	}
	if _, err := p.Store.Save(ctx, settings.Draft{ProxyURL: form.Get("proxyUrl"), Version: form.Int("version")}, nil); err != nil {
		return p.page(r, form, stored, ""), err
	}
	return console.Redirect{To: Path, Flash: "Settings saved. They apply on every node within a second."}, nil
}
