package app

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/console"
)

// unlistedShown is how long the overview names a proxy that is not listed after
// its last request: a client can write its headers too, and goes away.
const unlistedShown = 24 * time.Hour

// overviewUnlisted names the proxies in front of this node that are not in
// trusted_proxies.
func (a *App) overviewUnlisted(context.Context) (console.Card, error) {
	card := console.Card{Title: "Proxies in front", Link: "/system/nodes", Text: "Requests with forwarding headers came from addresses " +
		"that trusted_proxies does not list."}
	for _, u := range a.router.UnlistedProxies() {
		if time.Since(u.LastAt) > unlistedShown {
			continue
		}
		card.Attention = append(card.Attention, console.Notice{
			Kind: "unlisted_proxy", Key: "unlisted proxy " + u.Address, Since: u.FirstAt,
			Text: fmt.Sprintf("%s sends %s and is not in trusted_proxies, so all clients behind it count as one, and wrong passwords of one "+
				"lock out all. If it is your proxy, put this line into the configuration file: %s",
				u.Address, u.Header, u.Line),
		})
	}
	return card, nil
}
