package admin

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// actor is who asks, for the audit trail.
func actor(ctx context.Context) notify.Actor {
	a := notify.Actor{Address: identity.OriginOf(ctx).Address, RequestID: identity.OriginOf(ctx).RequestID}
	if p := identity.From(ctx); p != nil {
		a.Name, a.Source, a.UserID = p.Name, p.Source, p.UserID
	}
	return a
}

// account is a user: the same name of two sources is two users.
type account struct{ source, name string }

func accountOf(who *identity.Principal) account { return account{who.Source, who.Name} }

// ManagedBy is who writes to a platform, and makes the hooks for it: the person
// who asks, else this program by itself.
func ManagedBy(ctx context.Context, connection string) notify.Actor {
	if identity.From(ctx) != nil {
		return actor(ctx)
	}
	return notify.Actor{Name: "outrigger", Source: connection}
}
