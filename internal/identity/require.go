package identity

import (
	"context"

	"outrigger/internal/fault"
)

// Require is nil when the caller in ctx has perm at the place, else
// Unauthenticated or Forbidden.
func Require(ctx context.Context, perm Permission, at Resource) error {
	return From(ctx).Require(perm, at)
}

// Require is Require for a principal that is known; nil is not signed in.
func (p *Principal) Require(perm Permission, at Resource) error {
	switch {
	case p == nil:
		return ErrUnauthenticated()
	case !p.May(perm, at):
		return errForbidden()
	}
	return nil
}

// Missing is the answer for a thing that does not exist: NotFound with the
// message for a SYS_ADMIN. Others get what they get for a thing that is not
// theirs, so that they cannot find out which of the two it is.
func Missing(ctx context.Context, format string, args ...any) error {
	if From(ctx).May(SysAdmin, Resource{}) {
		return fault.New(fault.NotFound, format, args...)
	}
	return errForbidden()
}

func errForbidden() error {
	return fault.New(fault.Forbidden, "You do not have permission to do this. Ask an administrator.")
}
