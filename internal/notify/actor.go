package notify

import (
	"outrigger/internal/audit"
)

// Actor is who changes something, for the audit trail.
type Actor struct {
	Name, Source, Address, RequestID string
	UserID                           int64 // 0 for who is no user, such as a platform
}

// AuditEntry is what the audit trail keeps of something that was done.
func (a Actor) AuditEntry(action, object, id string, before, after map[string]string) audit.Entry {
	return audit.Entry{
		Who: a.Name, Source: a.Source, Address: a.Address, RequestID: a.RequestID,
		Area: "notifications", Action: action, Object: object, ObjectID: id, Before: before, After: after,
	}
}
