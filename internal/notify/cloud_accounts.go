package notify

import (
	"context"

	"outrigger/internal/fault"
)

// CloudAccounts knows the accounts of cloud platforms with which users have
// authorised this program.
type CloudAccounts interface {
	// Administering gives the authorization of the user in ctx whose account
	// administers the repository, as the platform says now. Errors:
	// fault.Forbidden where the user has no such account, with a message that
	// says where to authorise one; fault.Unavailable where the platform does not
	// answer.
	Administering(ctx context.Context, connection string, at RepositoryRef) (authorizationID int64, err error)
}

// NoCloudAccounts is where no account can be authorised.
type NoCloudAccounts struct{}

// Administering is of CloudAccounts.
func (NoCloudAccounts) Administering(_ context.Context, connection string, at RepositoryRef) (int64, error) {
	return 0, fault.New(fault.Forbidden, "To change the rules of %s/%s, authorise Outrigger with an account of %s that administers the repository.",
		at.ProjectKey, at.RepositoryKey, connection)
}
