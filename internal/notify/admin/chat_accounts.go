package admin

import (
	"context"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// ChatAccounts has the operations on the chat accounts that messages mention, for an
// ADMIN: the REST API and the console both go through it.
type ChatAccounts struct {
	Store *store.Store
}

func admin(ctx context.Context) error {
	return identity.Require(ctx, identity.Admin, identity.Resource{})
}

// Connections names the connections that accounts can be of.
func (s *ChatAccounts) Connections() []string { return s.Store.Platforms().Connections.Names() }

// List returns one page of the accounts.
func (s *ChatAccounts) List(ctx context.Context, p notify.ChatAccountPage) ([]notify.ChatAccount, error) {
	if err := admin(ctx); err != nil {
		return nil, err
	}
	return s.Store.ListChatAccounts(ctx, p)
}

// Save creates an account, or replaces the one that its user has.
func (s *ChatAccounts) Save(
	ctx context.Context, a notify.ChatAccount, wrong fault.Fields,
) (saved notify.ChatAccount, created bool, err error) {
	if err := admin(ctx); err != nil {
		return a, false, err
	}
	a = a.Trimmed()
	name, err := s.Store.Platforms().Connections.Resolve(a.Connection)
	if err := wrong.Join(err); err != nil {
		return a, false, err
	}
	a.Connection = name
	if err := wrong.Join(a.Validate()); err != nil {
		return a, false, err
	}
	if err := wrong.Err(); err != nil {
		return a, false, err
	}
	n, err := s.Store.SaveChatAccounts(ctx, actor(ctx), []notify.ChatAccount{a})
	return a, n == 1, err
}

// Import saves many accounts of one connection, all or none. What is wrong is
// named by its line, which lines has for each account.
func (s *ChatAccounts) Import(ctx context.Context, connection string, accounts []notify.ChatAccount, lines []int) (created int, err error) {
	if err := admin(ctx); err != nil {
		return 0, err
	}
	name, err := s.Store.Platforms().Connections.Resolve(connection)
	if err != nil {
		return 0, err
	}
	if len(accounts) == 0 || len(accounts) > notify.MaxImport {
		return 0, fault.InvalidField("accounts", "%d accounts; 1 to %d are taken at once.", len(accounts), notify.MaxImport)
	}
	var wrong fault.Fields
	first := make(map[string]int, len(accounts))
	for i := range accounts {
		a := accounts[i].Trimmed()
		a.Connection = name
		accounts[i] = a
		if err := a.Validate(); err != nil {
			for _, f := range fault.As(err).Fields {
				wrong.Add("accounts", "Line %d: %s", lines[i], f.Message)
			}
			continue
		}
		if before := first[notify.Fold(a.User)]; before != 0 {
			wrong.Add("accounts", "Line %d: %q is in line %s already.", lines[i], a.User, strconv.Itoa(before))
		}
		first[notify.Fold(a.User)] = lines[i]
	}
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	return s.Store.SaveChatAccounts(ctx, actor(ctx), accounts)
}

// Delete deletes a user's account: fault.NotFound when there is none.
func (s *ChatAccounts) Delete(ctx context.Context, connection, user string) error {
	if err := admin(ctx); err != nil {
		return err
	}
	name, err := s.Store.Platforms().Connections.Resolve(connection)
	if err != nil {
		return err
	}
	return s.Store.DeleteChatAccount(ctx, actor(ctx), name, user)
}
