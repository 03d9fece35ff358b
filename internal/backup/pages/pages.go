// Package pages is the backup in the console.
package pages

import (
	"context"
	"embed"
	"net/http"

	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

//go:embed *.html
var templates embed.FS

const path = "/system/backup"

// Pages shows what a Service knows.
type Pages struct{ Service *backup.Service }

// Register adds the page, and what the overview says after a restore.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(templates)
	c.AddNav(console.Nav{Section: "System", Label: "Backup", Path: path, Visible: administers})
	c.AddOverview(p.overview)
	c.Handle("GET "+path, console.Needs(identity.SysAdmin), p.show, "backup")
	c.Handle("GET "+path+"/confirm", console.Needs(identity.SysAdmin), p.ask)
	c.Handle("POST "+path+"/confirm", console.Needs(identity.SysAdmin), p.confirm)
}

func administers(p *identity.Principal) bool { return p.May(identity.SysAdmin, identity.Resource{}) }

func (p *Pages) show(r *http.Request) (console.Response, error) {
	restored, err := p.Service.Restored(r.Context())
	if err != nil {
		return nil, err
	}
	return console.Page{Template: "backup", Title: "Backup", Data: struct {
		Restored *backup.Restored
		Download string
	}{restored, api.Path}}, nil
}

func (p *Pages) ask(*http.Request) (console.Response, error) {
	return console.Confirm{
		Title: "Begin to send?", Verb: "Begin to send", Back: path,
		Text: "Messages and mail that went out after the backup was made wait in it, and go out once more. Cancel first what must not be repeated.",
	}, nil
}

func (p *Pages) confirm(r *http.Request) (console.Response, error) {
	if err := p.Service.Confirm(r.Context()); err != nil {
		return nil, err
	}
	return console.Redirect{To: path, Flash: "Sending has begun."}, nil
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
	text := "This database was restored from " + r.File + " at " + r.At.Format("2006-01-02 15:04 UTC") + ". Nothing is sent until you confirm it."
	return []console.Card{{
		Title: "Backup", Link: path, Text: "Sending is held back after a restore.",
		Attention: []console.Notice{{Text: text, Tone: console.Bad}},
	}}, nil
}
