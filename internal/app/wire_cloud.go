package app

import (
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/authorizations"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/store"
)

// openAuthorizations makes what holds the accounts of cloud platforms; nothing
// is refreshed ahead yet.
func (a *App) openAuthorizations(store *store.Store) *admin.Authorizations {
	a.chat.cloud = client.New(a.outgoing.Trusted(), a.clock)
	a.chat.accounts = authorizations.New(authorizations.Options{
		Store: store, Platform: a.chat.cloud, UserStates: a.identity.UserStates, Leases: a.leases, Clock: a.clock, Log: a.log,
		Metrics: a.registry,
	})
	accounts := &admin.Authorizations{
		Store: store, Location: a.chat.accounts.Location, Exchange: a.chat.accounts.Exchange, UserStates: a.identity.UserStates,
		BaseURL: a.URL(), Clock: a.clock,
	}
	a.identity.UseDependents(accounts.Dependents)
	return accounts
}
