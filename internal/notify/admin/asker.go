package admin

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// actor returns the user who makes the request, for the audit trail.
func actor(ctx context.Context) notify.Actor {
	a := notify.Actor{Address: identity.OriginOf(ctx).Address, RequestID: identity.OriginOf(ctx).RequestID}
	if p := identity.From(ctx); p != nil {
		a.Name, a.Source, a.UserID = p.Name, p.Source, p.UserID
	}
	return a
}

// ManagedBy returns who writes to a platform and creates the hooks for it: the user
// who makes the request, else this program.
func ManagedBy(ctx context.Context, connection string) notify.Actor {
	if identity.From(ctx) != nil {
		return actor(ctx)
	}
	return notify.Actor{Name: "outrigger", Source: connection}
}
