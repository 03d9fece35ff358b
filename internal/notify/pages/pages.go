// Package pages is the wing's part of the console: rules, activity reports,
// connections, hooks and offered renames, deliveries, channels, and the cards of
// the overview.
package pages

import (
	"context"
	"embed"
	"net/http"
	"slices"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/choices"
)

//go:embed *.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Pages are the pages.
type Pages struct {
	admin.Services
	Choices *choices.Service

	// Draw is the message of a delivery, or the digest of several, as it would be sent in
	// a format; nil: it is not shown.
	Draw func(ctx context.Context, of []*notify.Delivery, format notify.Format) []byte

	Proxy func() notify.ProxyTrouble // why channels wait for the outgoing proxy; nil: they never do
	Clock func() time.Time
}

// pageSize is how many rows a list shows at once.
const pageSize = 50

const (
	rulesPath      = "/notifications/rules"
	deliveriesPath = "/notifications/deliveries"
	channelsPath   = "/notifications/channels"
)

// Register adds the pages.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(pageFiles)
	c.AddAssets(console.Sub(assetFiles, "assets"))
	c.AddAssets(cardhtml.Assets())
	p.registerNav(c)
	p.registerRules(c)
	p.registerCloud(c)
	p.registerReports(c)
	p.registerConnections(c)
	p.registerWebhooks(c)
	p.registerRenames(c)
	p.registerMentions(c)
	p.registerAccounts(c)
	p.registerEvents(c)
	c.Handle("GET "+deliveriesPath, console.SignedIn, p.listDeliveries, "deliveries")
	c.Handle("GET "+deliveriesPath+"/live", console.SignedIn, p.liveDeliveries, "deliveries")
	c.Handle("POST "+deliveriesPath+"/selected", console.SignedIn, console.WithForm(p.actOnSelected))
	for _, do := range []manyAction{redelivering, cancelling} {
		c.Handle("GET "+deliveriesPath+"/"+do.name, console.SignedIn, p.confirmAll(do))
		c.Handle("POST "+deliveriesPath+"/"+do.name, console.SignedIn, p.actOnAll(do))
	}
	c.Handle("GET "+deliveriesPath+"/{id}", console.SignedIn, p.showDelivery, "delivery")
	c.Handle("POST "+deliveriesPath+"/{id}/redeliver", console.SignedIn, p.redeliver)
	c.Handle("POST "+deliveriesPath+"/{id}/try", console.SignedIn, p.tryNow)
	c.Handle("GET "+deliveriesPath+"/{id}/cancel", console.SignedIn, p.confirmCancel)
	c.Handle("POST "+deliveriesPath+"/{id}/cancel", console.SignedIn, p.cancel)
	c.Handle("GET "+channelsPath, console.SignedIn, p.listChannels, "channels")
	c.Handle("GET "+channelsPath+"/{channel}", console.SignedIn, console.Of(p.channelOfPath, p.showChannel), "channel")
	c.Handle("POST "+channelsPath+"/{channel}/retry", console.SignedIn, console.WithForm(p.retryChannel))
	c.Handle("POST "+channelsPath+"/{channel}/test", console.SignedIn, console.WithForm(p.testChannel))
	c.Handle("POST "+channelsPath+"/{channel}", console.SignedIn, console.FormOf(p.channelOfPath, p.saveChannel), "channel")
	c.Handle("GET "+channelsPath+"/{channel}/replace", console.SignedIn, console.Of(p.channelOfPath, p.askReplacement), "channel-replace")
	c.Handle("POST "+channelsPath+"/{channel}/replace", console.SignedIn, console.FormOf(p.channelOfPath, p.replaceChannel), "channel-replace")
	c.Handle("GET "+channelsPath+"/{channel}/delete", console.SignedIn, console.Of(p.channelOfPath, p.confirmDeleteChannel))
	c.Handle("POST "+channelsPath+"/{channel}/delete", console.SignedIn, console.Of(p.channelOfPath, p.deleteChannel))
	c.AddOverview(p.overview)
	c.AddFinder(p.find)
}

// registerNav adds the section of the navigation: what sends, what came of it,
// then what is set up once.
func (p *Pages) registerNav(c *console.Console) {
	hasCloud := func(who *identity.Principal) bool {
		return administersAnything(who) && len(p.Rules.Connections(notify.Cloud)) > 0
	}
	admin := func(who *identity.Principal) bool { return who.May(identity.Admin, identity.Resource{}) }
	for _, n := range []console.Nav{
		{Label: "Rules", Path: rulesPath, Visible: administersAnything},
		{Label: "Activity reports", Path: reportsPath, Visible: administersAnything},
		{Label: "Channels", Path: channelsPath, Visible: administersAnything},
		{Label: "Deliveries", Path: deliveriesPath, Visible: administersAnything},
		{Label: "Events", Path: eventsPath, Visible: administersAnything},
		{Label: "Connections", Path: connectionPages, Visible: administersAnything},
		{Label: "Cloud", Path: cloudPath, Visible: hasCloud},
		{Label: "Mentions", Path: mentionsPath, Visible: admin},
	} {
		n.Section = "Notifications"
		c.AddNav(n)
	}
}

// administersAnything reports whether the principal can have a rule to look at.
func administersAnything(p *identity.Principal) bool {
	return p.May(identity.Admin, identity.Resource{}) || slices.ContainsFunc(p.Grants, func(g identity.Grant) bool {
		return g.Permission == identity.ProjectAdmin || g.Permission == identity.RepoAdmin
	})
}

// administrators is console.Access for those who can have a rule to look at.
func administrators(_ *http.Request, p *identity.Principal) bool {
	return p != nil && administersAnything(p)
}
