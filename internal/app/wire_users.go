package app

import (
	"context"
	"fmt"

	"outrigger/internal/console/users"
	"outrigger/internal/identity"
)

// mostAccounts is how many cloud accounts of a user are named.
const mostAccounts = 20

// openUsers adds the pages about users.
func (a *App) openUsers() {
	users.Register(a.pages, users.Options{Service: a.identity, Connections: a.connectionNames, Stays: a.staysOf})
}

func (a *App) connectionNames() (names []string) {
	for _, c := range a.chat.store.Platforms().Connections {
		names = append(names, c.Name)
	}
	return names
}

// staysOf says which cloud accounts that a user authorised go on being used.
func (a *App) staysOf(ctx context.Context, user identity.User) (sentences []string, err error) {
	accounts, err := a.chat.store.ListAuthorizations(ctx, user.ID, 0, mostAccounts)
	for _, account := range accounts {
		rules := fmt.Sprintf("%d rules", account.Rules)
		if account.Rules == 1 {
			rules = "1 rule"
		}
		sentences = append(sentences, fmt.Sprintf("The account %s of %s, which %s authorised, stays in use for %s; revoke it under Cloud › Accounts.",
			account.AccountName, account.Connection, user.Name, rules))
	}
	return sentences, err
}
