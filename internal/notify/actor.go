package notify

import (
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/identity"
)

// Actor is who changes something, for the audit trail.
type Actor struct {
	Name, Source, Address, RequestID string
	UserID                           int64 // 0 for who is no user, such as a platform
}

// actor is who asks, for the audit trail.
func actor(ctx context.Context) Actor {
	a := Actor{Address: identity.OriginOf(ctx).Address, RequestID: identity.OriginOf(ctx).RequestID}
	if p := identity.From(ctx); p != nil {
		a.Name, a.Source, a.UserID = p.Name, p.Source, p.UserID
	}
	return a
}

// AuditEntry is what the audit trail keeps of something that was done.
func (a Actor) AuditEntry(action, object, id string, before, after map[string]string) audit.Entry {
	return audit.Entry{
		Who: a.Name, Source: a.Source, Address: a.Address, RequestID: a.RequestID,
		Area: "notifications", Action: action, Object: object, ObjectID: id, Before: before, After: after,
	}
}
