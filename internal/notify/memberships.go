package notify

import (
	"context"
	"time"

	"outrigger/internal/fault"
)

// Memberships says who is in which group of a platform.
type Memberships interface {
	// MemberOf reports whether the user of the connection's platform is in any of
	// the groups; names of users and groups are compared without case. It may
	// ask the network, and returns when ctx ends.
	//
	// fault.Unavailable: the platform cannot be asked, and no answer that still
	// holds is remembered.
	MemberOf(ctx context.Context, connection, user string, groups []string) (bool, error)
}

// NoMemberships is for where no platform can be asked.
type NoMemberships struct{}

// MemberOf answers fault.Unavailable.
func (NoMemberships) MemberOf(_ context.Context, connection, _ string, _ []string) (bool, error) {
	return false, fault.New(fault.Unavailable, "The connection %q has no account that can ask the platform for its groups.", connection)
}

// MembershipKey is a question to a platform: is the user in the group?
type MembershipKey struct{ Connection, Group, User string }

// Folded is the key under which its answer is kept: the platform compares both
// names without case.
func (k MembershipKey) Folded() MembershipKey {
	k.Group, k.User = Fold(k.Group), Fold(k.User)
	return k
}

// Membership is what a platform answered, and when. Zero: it never did.
type Membership struct {
	Member bool
	At     time.Time
}
