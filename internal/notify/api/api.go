// Package api is the wing's part of the REST API: rules (filters), connections,
// hooks and offered renames, deliveries and channels. It decides nothing.
package api

import (
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

const (
	basePath       = "/rest/mtbs/1.0/configuration"
	deliveriesPath = basePath + "/deliveries"
	channelsPath   = basePath + "/channels"
	eventsPath     = basePath + "/events"
)

// API answers the requests.
type API struct {
	Rules      *notify.Rules
	Hooks      *notify.Hooks
	Events     *notify.Events
	Deliveries *notify.Deliveries
	Channels   *notify.Channels
	Builds     *notify.Builds
	Webhooks   *notify.Webhooks
	Clock      func() time.Time
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: basePath + "/filter"}, a.listFilters)
	r.Handle(rest.Route{Method: "POST", Path: basePath + "/filter"}, a.saveFilter)
	r.Handle(rest.Route{Method: "DELETE", Path: basePath + "/filter"}, a.deleteFilter)
	r.Handle(rest.Route{Method: "PUT", Path: basePath + "/filter/enabled"}, a.enableFilter)
	r.Handle(rest.Route{Method: "POST", Path: basePath + "/filter/test"}, a.testFilter)
	r.Handle(rest.Route{Method: "GET", Path: basePath + "/eventTypes"}, a.listEventTypes)
	r.Handle(rest.Route{Method: "GET", Path: basePath + "/preview", Own: true}, a.preview)
	a.registerConnections(r)
	a.registerBuilds(r)
	a.registerEvents(r)
	a.registerWebhooks(r)
	r.Handle(rest.Route{Method: "GET", Path: deliveriesPath}, a.listDeliveries)
	r.Handle(rest.Route{Method: "GET", Path: deliveriesPath + "/{id}"}, a.getDelivery)
	r.Handle(rest.Route{Method: "POST", Path: deliveriesPath + "/redeliver"}, a.redeliver)
	r.Handle(rest.Route{Method: "POST", Path: deliveriesPath + "/cancel"}, a.cancel)
	r.Handle(rest.Route{Method: "POST", Path: deliveriesPath + "/try"}, a.tryNow)
	r.Handle(rest.Route{Method: "GET", Path: channelsPath}, a.listChannels)
	r.Handle(rest.Route{Method: "GET", Path: channelsPath + "/{channel}"}, a.getChannel)
	r.Handle(rest.Route{Method: "PUT", Path: channelsPath + "/{channel}"}, a.renameChannel)
	r.Handle(rest.Route{Method: "POST", Path: channelsPath + "/{channel}/retry"}, a.retryChannel)
	r.Handle(rest.Route{Method: "POST", Path: channelsPath + "/{channel}/test"}, a.testChannel)
}
