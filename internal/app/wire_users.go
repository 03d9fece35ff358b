package app

import (
	"context"

	"outrigger/internal/accounts/groups"
	"outrigger/internal/accounts/users"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// mostAccounts is how many cloud accounts of a user are named.
const mostAccounts = 20

// openUsers adds the pages about users and groups.
func (a *App) openUsers() {
	provider := ""
	if o := a.cfg.Identity.OIDC; o.On() {
		provider = o.Name
	}
	users.Register(a.pages, users.Options{Service: a.identity, Connections: a.connectionNames, Accounts: a.accountsOf})
	groups.Register(a.pages, groups.Options{Service: a.identity, Connections: a.connectionNames, Provider: provider})
}

func (a *App) connectionNames() (names []string) {
	for _, c := range a.chat.store.Platforms().Connections {
		names = append(names, c.Name)
	}
	return names
}

// accountsOf lists the cloud accounts that a user authorised.
func (a *App) accountsOf(ctx context.Context, user identity.User) (list []users.Account, err error) {
	accounts, err := a.chat.store.ListAuthorizations(ctx, user.ID, 0, mostAccounts)
	for _, account := range accounts {
		if account.State != notify.AuthorizationRevoked {
			list = append(list, users.Account{Name: account.AccountName, Connection: account.Connection, Rules: account.Rules})
		}
	}
	return list, err
}
