// Package api is the REST API of chat notifications: rules (filters), activity
// reports, connections, hooks and offered renames, deliveries and channels. It
// decides nothing.
package api

import (
	"time"

	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

const basePath = "/rest/mtbs/1.0/configuration"

// API answers the requests.
type API struct {
	admin.Services
	Clock func() time.Time
}

// paged is a request for a page of a list that nothing narrows.
type paged struct{ Page rest.Page }

// exampleTime is that of the examples.
var exampleTime = time.Date(2026, 2, 5, 16, 20, 11, 470e6, time.UTC)

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	a.registerFilters(r)
	a.registerTrials(r)
	a.registerTryMasks(r)
	a.registerCloudRules(r)
	a.registerEventTypes(r)
	a.registerPreview(r)
	a.registerConnections(r)
	a.registerRefused(r)
	a.registerChatAccounts(r)
	a.registerBuilds(r)
	a.registerEvents(r)
	a.registerWebhooks(r)
	a.registerAuthorizations(r)
	a.registerReports(r)
	a.registerDeliveries(r)
	a.registerChannels(r)
}
