package rest

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Require is nil when who asks has perm at the place, else Unauthenticated or
// Forbidden.
func Require(ctx context.Context, perm identity.Permission, at identity.Where) error {
	return require(identity.From(ctx), perm, at)
}

func require(p *identity.Principal, perm identity.Permission, at identity.Where) error {
	switch {
	case p == nil:
		return identity.ErrUnauthenticated()
	case !p.May(perm, at):
		return forbidden()
	}
	return nil
}

// Missing is the answer for a thing that is not there: NotFound with the
// message for a SYS_ADMIN. Anybody else gets what he gets for a thing that is
// foreign, so that he cannot find out which of the two it is.
func Missing(ctx context.Context, format string, args ...any) error {
	if identity.From(ctx).May(identity.SysAdmin, identity.Where{}) {
		return fault.New(fault.NotFound, format, args...)
	}
	return forbidden()
}

func forbidden() error {
	return fault.New(fault.Forbidden, "You do not have the permission that this needs; ask an administrator for it.")
}
