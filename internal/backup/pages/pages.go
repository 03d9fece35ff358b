// Package pages is the backup in the console.
package pages

import (
	"context"
	"embed"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

//go:embed *.html
var templates embed.FS

const path = "/system/backup"

// Pages shows what a Service knows.
type Pages struct {
	Service *backup.Service
	// Confirmed is nil where who asks has shown the password or a second factor
	// lately.
	Confirmed func(ctx context.Context) error
}

// Register adds the page, and what the overview says after a restore.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(templates)
	c.AddNav(console.Nav{Section: "System", Label: "Backup", Path: path, Visible: administers})
	c.AddOverview(p.overview)
	c.Handle("GET "+path, console.Needs(identity.SysAdmin), p.show, "backup")
	c.Handle("GET "+path+"/download", console.Needs(identity.SysAdmin), p.download)
	c.Handle("GET "+path+"/confirm", console.Needs(identity.SysAdmin), p.ask)
	c.Handle("POST "+path+"/confirm", console.Needs(identity.SysAdmin), console.WithForm(p.confirm))
}

func administers(p *identity.Principal) bool { return p.May(identity.SysAdmin, identity.Resource{}) }

func (p *Pages) show(r *http.Request) (console.Response, error) {
	restored, err := p.Service.Restored(r.Context())
	if err != nil {
		return nil, err
	}
	resting, working, err := p.Service.Tokens(r.Context())
	if err != nil {
		return nil, err
	}
	return console.Page{Template: "backup", Title: "Backup", Data: struct {
		Restored         *backup.Restored
		Download         string
		Resting, Working []identity.Token
	}{restored, path + "/download", resting, working}}, nil
}

// download leads to the backup, after a confirmation where that is needed.
func (p *Pages) download(r *http.Request) (console.Response, error) {
	if err := p.Confirmed(r.Context()); err != nil {
		return nil, err
	}
	return console.Redirect{To: api.Path}, nil
}

func (p *Pages) ask(r *http.Request) (console.Response, error) {
	restored, err := p.Service.Restored(r.Context())
	if err != nil {
		return nil, err
	}
	waiting, err := p.Service.Pending(r.Context())
	if err != nil {
		return nil, err
	}
	resting, working, err := p.Service.Tokens(r.Context())
	if err != nil {
		return nil, err
	}
	page := console.Confirm{Title: "Start sending?", Verb: "Start sending", Keep: "Send nothing yet", Back: path, Text: waiting.String()}
	page.Pick = console.Pick{Label: "Tokens to keep", Name: "keep"}
	for _, t := range resting {
		page.Pick.Options = append(page.Pick.Options, console.Option{
			Value: strconv.FormatInt(t.ID, 10), Label: t.Name, Hint: "of " + t.User + ", scope " + string(t.Scope),
		})
	}
	switch {
	case restored.Held():
		page.Notes = append(page.Notes, restored.Access())
	case len(resting) > 0:
		page.Title, page.Verb, page.Keep = "Keep tokens?", "Keep tokens", "Decide later"
		page.Text = "Those that you choose work again. The others are refused still."
	}
	if len(working) > 0 {
		page.Notes = append(page.Notes, "Working: "+tokensText(working)+".")
	}
	return page, nil
}

func tokensText(list []identity.Token) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name + " of " + t.User + " (" + string(t.Scope) + ")"
	}
	return strings.Join(names, ", ")
}

func (p *Pages) confirm(r *http.Request, form *console.Form) (console.Response, error) {
	if err := p.Confirmed(r.Context()); err != nil {
		return nil, err
	}
	var keep []int64
	for _, text := range form.All("keep") {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "The tokens to keep could not be read. Choose them again.")
		}
		keep = append(keep, id)
	}
	held, err := p.Service.Held(r.Context())
	if err != nil {
		return nil, err
	}
	said := "The server sends again."
	if !held {
		said = "The tokens work again."
	}
	err = p.Service.Confirm(r.Context(), keep...)
	return console.Redirect{To: path, Flash: said}, err
}

// overview says that sending is held back, to those who can end that.
func (p *Pages) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !administers(who) {
		return nil, nil
	}
	r, err := p.Service.Restored(ctx)
	if err != nil || !r.Held() {
		return nil, err
	}
	text := r.String() + " Nothing is sent until you confirm it."
	return []console.Card{{
		Title: "Backup", Link: path, Text: "Sending is paused.",
		Attention: []console.Notice{{Kind: "restore", Text: text, Tone: console.Bad, Since: r.At,
			Remedy: console.Remedy{Label: "Start sending", Path: path + "/confirm", Asks: true}}},
	}}, nil
}
