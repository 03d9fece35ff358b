package notify

import (
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/phrase"
)

// Rename is a rename on the platform that a webhook told of, and that is not followed
// here, or not in full, until an administrator confirms it.
type Rename struct {
	ID         int64
	Connection string
	Hook       string
	HookID     int64
	From, To   Scope
	Reason     RenameReason
	OfferedAt  time.Time
	There      Occupants // what is at the new key, and keeps it from being confirmed
}

// RenameReason is why a rename is only offered.
type RenameReason string

const (
	OutOfScope RenameReason = "scope"    // the new key is not in the hook's scope
	Occupied   RenameReason = "occupied" // the new key has rules, hooks or grants already
	HasGrants  RenameReason = "grants"   // rules moved; grants never do on a webhook's word
)

// KeyChange returns the change of keys that is offered.
func (r *Rename) KeyChange() KeyChange {
	return KeyChange{Connection: r.Connection, From: r.From, To: r.To}
}

// Occupants counts what is at a key. A project's is also what is at its
// repositories' keys.
type Occupants struct{ Rules, Reports, Hooks, Grants int }

// Any reports whether anything is at the key.
func (o Occupants) Any() bool { return o != Occupants{} }

// String names what there is: "2 rules, 1 hook and 1 permission".
func (o Occupants) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{o.Rules, "rule"}, {o.Reports, "report"}, {o.Hooks, "hook"}, {o.Grants, "permission"}} {
		if c.n > 0 {
			parts = append(parts, phrase.Count(c.n, c.noun))
		}
	}
	return phrase.List(parts)
}

// Blocked returns why an offered rename cannot be confirmed, or nil if it can be: what
// moves to a key that is in use would be mixed with what is there for good.
func (r *Rename) Blocked() error {
	if !r.There.Any() {
		return nil
	}
	return fault.New(fault.Conflict, "%s has %s already: move or delete these first, or dismiss the rename.", r.To, r.There)
}

// RenameOutcome is what becomes of a rename that a webhook says: its rules and
// hooks move, it is offered to an administrator, both, or neither.
type RenameOutcome struct {
	Change KeyChange    // what is moved or offered
	Move   bool         // rules and the scopes of hooks follow
	Offer  RenameReason // why it waits for an administrator; "" where it does not
}

// JudgeRename decides on a rename that the hook may speak of (see MayOffer), as
// far as its word goes: rules follow only where its scope holds both keys and
// nothing is at the new one yet; permissions never do. here is what is at the old
// key, there what is at the new one.
func (h *Hook) JudgeRename(by KeyChange, here, there Occupants) RenameOutcome {
	if from, again := h.offers(by.From); again { // renamed once more before it was decided
		by.From = from
		return RenameOutcome{Change: by, Offer: OutOfScope}
	}
	outcome := RenameOutcome{Change: by}
	switch {
	case !here.Any():
	case !h.Scope.Holds(by.To):
		outcome.Offer = OutOfScope
	case there.Any():
		outcome.Offer = Occupied
	default:
		outcome.Move = true
		if here.Grants > 0 {
			outcome.Offer = HasGrants
		}
	}
	return outcome
}
