package notify

import (
	"context"
	"errors"
)

// ErrNoAccount is the cause of a refusal where authorising an account of the
// platform, on the page AccountsPath, may help.
var ErrNoAccount = errors.New("no authorised account administers the repository")

// CloudAccounts knows the accounts of cloud platforms with which users have
// authorised this program.
type CloudAccounts interface {
	// Administering returns the authorization of the user in ctx whose account
	// administers the repository, as the platform says now. Errors:
	// fault.Forbidden caused by ErrNoAccount where the user has no such account;
	// fault.Unavailable where the platform does not
	// answer; fault.RateLimited.
	Administering(ctx context.Context, connection string, at RepositoryRef) (authorizationID int64, err error)
}
