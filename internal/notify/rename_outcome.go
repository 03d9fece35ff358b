package notify

// RenameOutcome is what becomes of a rename that a webhook says: its rules and
// hooks move, it is offered to an administrator, both, or neither.
type RenameOutcome struct {
	Change KeyChange    // what is moved or offered
	Move   bool         // rules and the scopes of hooks follow
	Offer  RenameReason // why it waits for an administrator; "" where it does not
}

// JudgeRename decides on a rename that the hook may speak of (see MayOffer), as
// far as its word goes: rules follow only where its scope holds both keys and
// nothing is at the new one yet; permissions never do. here and there are what
// is at the old and at the new key.
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
