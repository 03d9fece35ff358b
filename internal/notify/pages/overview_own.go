package pages

import (
	"context"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

// maxOwnTroubled is how many channels the overview names to those who administer a
// part: as many as to the others.
const maxOwnTroubled = 10

// ownOverview is the card of those who administer projects or repositories: what of
// theirs needs attention.
func (p *Pages) ownOverview(ctx context.Context, who *identity.Principal, accounts []console.Notice) ([]console.Card, error) {
	card := console.Card{
		Title: "Notifications", Link: rulesPath, Service: true, Text: "For the projects and repositories that you administer:",
		Links: []console.Link{
			{Label: "Rules", Path: rulesPath}, {Label: "Activity reports", Path: reportsPath}, {Label: "Deliveries", Path: deliveriesPath},
			{Label: "Channels", Path: channelsPath}, {Label: "Events", Path: eventsPath}, {Label: "Connections", Path: connectionPages},
		},
	}
	if p.cloudOnly() {
		card.Link, card.Links[0] = cloudPath, console.Link{Label: "Rules", Path: cloudPath}
	}
	troubled, retrying, err := p.Channels.Troubled(ctx, p.Clock(), maxOwnTroubled)
	if err != nil {
		return nil, err
	}
	card.Pending = p.pending(retrying)
	for i := range troubled {
		n := p.notice(&troubled[i])
		if !troubled[i].ChangeableBy(who) {
			n.Remedy = console.Remedy{}
		}
		card.Attention = append(card.Attention, n)
	}
	card.Attention = append(card.Attention, accounts...)
	failing, err := p.failingReports(ctx)
	card.Attention = append(card.Attention, failing...)
	return []console.Card{card}, err
}
