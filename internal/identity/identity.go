// Package identity knows who asks and what they may do: users, the
// permissions granted to them, tokens and sessions.
//
// Users live in this program's database. A Principal is a user as of at most
// a second ago: what is changed on one node holds on every node within that.
// The package knows no HTTP; rest asks it who is behind a request, and
// rest/accounts are its endpoints.
package identity

import (
	"time"

	"outrigger/internal/fault"
)

// Grant is a permission that a user has at a place.
type Grant struct {
	ID         int64
	Permission Permission
	Where      Where
	GrantedAt  time.Time
}

// ErrUnauthenticated is the one answer to whoever is nobody, whatever the
// reason: no credentials, an unknown user, a wrong password, a token or
// session that is over.
func ErrUnauthenticated() error {
	return fault.New(fault.Unauthenticated, "Client must be authenticated to access this resource.")
}
