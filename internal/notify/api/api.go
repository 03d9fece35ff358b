// Package api is the REST API of chat notifications: rules (filters), activity
// reports, connections, hooks and offered renames, deliveries and channels. It
// decides nothing.
package api

import (
	"strconv"
	"time"

	"outrigger/internal/fault"
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

// ruleID is the id of a rule in the query.
type ruleID int64

// UnmarshalText reads it.
func (id *ruleID) UnmarshalText(text []byte) error { return readID((*int64)(id), text, "rule") }

// readID reads the id of something called of.
func readID(id *int64, text []byte, of string) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fault.New(fault.Invalid, "Give the id of a %s as a whole number.", of)
	}
	*id = n
	return nil
}

// enabling is whether a rule or a report is to be switched on, in the query.
type enabling bool

// UnmarshalText reads it.
func (e *enabling) UnmarshalText(text []byte) error {
	on, err := strconv.ParseBool(string(text))
	if err != nil {
		return fault.New(fault.Invalid, "Use true or false.")
	}
	*e = enabling(on)
	return nil
}
