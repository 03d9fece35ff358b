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
		Title: "Start sending?", Verb: "Start sending", Back: path,
		Text: "Messages that were sent after the backup was made are still waiting in it, and will be sent again. First cancel those that must not be repeated.",
	}, nil
}

func (p *Pages) confirm(r *http.Request) (console.Response, error) {
	if err := p.Service.Confirm(r.Context()); err != nil {
		return nil, err
	}
	return console.Redirect{To: path, Flash: "The server sends again."}, nil
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
		Title: "Backup", Link: path, Text: "Sending is paused after a restore.",
		Attention: []console.Notice{{Text: text, Tone: console.Bad, Since: r.At, Remedy: console.Remedy{Label: "Start sending", Path: path + "/confirm", Asks: true}}},
	}}, nil
}
