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

// forReader reduces a list from the store to what the user may read.
func forReader[T any, P interface {
	*T
	Show(inside bool)
}](ctx context.Context, list []T) []T {
	inside := notify.ReadsInside(ctx)
	for i := range list {
		P(&list[i]).Show(inside)
	}
	return list
}

// SeesAll reports whether the caller may see every delivery and event: what is true of
// such a list is true for all of them.
func SeesAll(ctx context.Context) bool {
	return identity.From(ctx).May(identity.Admin, identity.Resource{})
}

// administered are the projects and repositories that a principal administers; never nil.
func administered(who *identity.Principal) []identity.Resource {
	places := []identity.Resource{}
	for _, g := range who.Grants {
		if g.Permission == identity.ProjectAdmin || g.Permission == identity.RepoAdmin {
			places = append(places, g.Resource)
		}
	}
	return places
}
