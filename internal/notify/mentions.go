package notify

import (
	"context"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Mentions has the operations on the chat accounts that messages mention, for an
// ADMIN: the REST API and the console both go through it.
type Mentions struct {
	Store MentionStore
}

// MentionStore keeps chat accounts; *store.Store.
type MentionStore interface {
	Platforms() *Platforms
	ListChatAccounts(ctx context.Context, p ChatAccountPage) ([]ChatAccount, error)
	// SaveChatAccounts creates or replaces accounts, all or none, and tells how
	// many are new.
	SaveChatAccounts(ctx context.Context, who Actor, accounts []ChatAccount) (created int, err error)
	// DeleteChatAccount deletes one: fault.NotFound when there is none.
	DeleteChatAccount(ctx context.Context, who Actor, connection, user string) error
}

func admin(ctx context.Context) error {
	return identity.Require(ctx, identity.Admin, identity.Resource{})
}

// Connections names the connections that accounts can be of.
func (s *Mentions) Connections() []string { return s.Store.Platforms().Connections.Names() }

// List returns one page of the accounts.
func (s *Mentions) List(ctx context.Context, p ChatAccountPage) ([]ChatAccount, error) {
	if err := admin(ctx); err != nil {
		return nil, err
	}
	return s.Store.ListChatAccounts(ctx, p)
}

// Save creates an account, or replaces the one that its user has.
func (s *Mentions) Save(ctx context.Context, a ChatAccount, wrong fault.Fields) (saved ChatAccount, created bool, err error) {
	if err := admin(ctx); err != nil {
		return a, false, err
	}
	a = a.trimmed()
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
	n, err := s.Store.SaveChatAccounts(ctx, actor(ctx), []ChatAccount{a})
	return a, n == 1, err
}

// Import saves many accounts of one connection, all or none. What is wrong is
// named by its line, which lines has for each account.
func (s *Mentions) Import(ctx context.Context, connection string, accounts []ChatAccount, lines []int) (created int, err error) {
	if err := admin(ctx); err != nil {
		return 0, err
	}
	name, err := s.Store.Platforms().Connections.Resolve(connection)
	if err != nil {
		return 0, err
	}
	if len(accounts) == 0 || len(accounts) > MaxImport {
		return 0, fault.InvalidField("accounts", "%d accounts; 1 to %d are taken at once.", len(accounts), MaxImport)
	}
	var wrong fault.Fields
	first := make(map[string]int, len(accounts))
	for i := range accounts {
		a := accounts[i].trimmed()
		a.Connection = name
		accounts[i] = a
		if err := a.Validate(); err != nil {
			for _, f := range fault.As(err).Fields {
				wrong.Add("accounts", "Line %d: %s", lines[i], f.Message)
			}
			continue
		}
		if before := first[Fold(a.User)]; before != 0 {
			wrong.Add("accounts", "Line %d: %q is in line %s already.", lines[i], a.User, strconv.Itoa(before))
		}
		first[Fold(a.User)] = lines[i]
	}
	if err := wrong.Err(); err != nil {
		return 0, err
	}
	return s.Store.SaveChatAccounts(ctx, actor(ctx), accounts)
}

// Delete deletes a user's account: fault.NotFound when there is none.
func (s *Mentions) Delete(ctx context.Context, connection, user string) error {
	if err := admin(ctx); err != nil {
		return err
	}
	name, err := s.Store.Platforms().Connections.Resolve(connection)
	if err != nil {
		return err
	}
	return s.Store.DeleteChatAccount(ctx, actor(ctx), name, user)
}
