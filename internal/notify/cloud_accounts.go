package notify

import "context"

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
