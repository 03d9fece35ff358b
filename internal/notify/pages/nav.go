package pages

import (
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

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
