package notify

import (
	"time"
)

// Rename is one that a webhook said and that did not happen here, or not all
// of it, until an administrator has said so.
type Rename struct {
	ID         int64
	Connection string
	Hook       string
	HookID     int64
	From, To   Scope
	Reason     RenameReason
	OfferedAt  time.Time
}

// RenameReason is why a rename is only offered.
type RenameReason string

const (
	OutOfScope RenameReason = "scope"    // the new key is not in the hook's scope
	Occupied   RenameReason = "occupied" // the new key has rules, hooks or grants already
	HasGrants  RenameReason = "grants"   // rules moved; grants never do on a webhook's word
)

// KeyChange is the change of keys that is offered.
func (o *Rename) KeyChange() KeyChange {
	return KeyChange{Connection: o.Connection, From: RepositoryRef(o.From), To: RepositoryRef(o.To)}
}
