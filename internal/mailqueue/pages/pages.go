// Package pages is the mail queue's part of the console: queues, messages, nodes
// and the overview's card.
package pages

import (
	"context"
	"embed"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
)

//go:embed *.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Pages is the wing's part of the console.
type Pages struct {
	Service *admin.Service
	Relay   mailqueue.Relay
	// Deaf is the node whose relay has no listener (mail.listen is off), so that no
	// mail can come in there; "": it has one, or another source.
	Deaf string
	// Listener is where the relay of this node takes mail; "": nowhere.
	Listener string
	Check    mailqueue.Check
	// Held reports whether nothing is sent before an administrator confirms a restore.
	Held func(context.Context) (bool, error)
}

const (
	pageSize = 50 // rows of a list

	queuesPath   = "/mail"
	messagesPath = "/mail/messages"

	// liveEvery follows samples closely enough; the relay's sizes change
	// between them.
	liveEvery = 5 * time.Second
)

// Register adds the pages.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(pageFiles)
	c.AddAssets(console.Sub(assetFiles, "assets"))
	c.AddNav(console.Nav{Section: "Mail", Label: "Mail queues", Path: queuesPath, Visible: administers})
	c.AddNav(console.Nav{Section: "Mail", Label: "Messages", Path: messagesPath, Visible: administers})
	may := console.Needs(identity.Admin)
	c.Handle("GET "+queuesPath, may, p.showQueues, "mail-queues")
	c.Handle("GET "+queuesPath+"/live", may, p.liveQueues, "mail-queues")
	for _, a := range []*action{flushing, resending} {
		c.Handle("GET "+queuesPath+"/"+a.name, may, p.askQueue(a))
		c.Handle("POST "+queuesPath+"/"+a.name, may, p.actOnQueue(a))
	}
	c.Handle("POST "+queuesPath+"/pause", may, console.WithForm(p.pause))
	c.Handle("POST "+queuesPath+"/resume", may, console.WithForm(p.resume))
	c.Handle("GET "+queuesPath+"/check", may, p.askCheck, "mail-check")
	c.Handle("POST "+queuesPath+"/check", may, console.WithForm(p.check), "mail-check")
	c.Handle("GET "+messagesPath, may, p.listMessages, "mail-messages")
	for _, a := range actions {
		c.Handle("GET "+messagesPath+"/"+a.name, may, p.askList(a))
		c.Handle("POST "+messagesPath+"/"+a.name, may, p.actOnList(a))
	}
	c.Handle("POST "+messagesPath+"/selected", may, console.WithForm(p.actOnTicked))
	c.Handle("GET "+messagesPath+"/{id}", may, p.showMessage, "mail-message")
	c.Handle("GET "+messagesPath+"/{id}/content", may, console.Of(idOfPath, p.look), "mail-content")
	c.Handle("POST "+messagesPath+"/{id}/resend", may, console.Of(idOfPath, p.resend))
	c.Handle("GET "+messagesPath+"/{id}/delete", may, p.confirmDelete)
	c.Handle("POST "+messagesPath+"/{id}/delete", may, console.Of(idOfPath, p.delete))
	p.registerNodes(c)
	c.AddOverview(p.overview)
	c.AddFinder(p.find)
}

// administers reports whether a user may see mail.
func administers(p *identity.Principal) bool { return p.May(identity.Admin, identity.Resource{}) }
