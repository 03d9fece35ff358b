package threads

import (
	"fmt"

	"outrigger/internal/fault"
)

// Reason says why a record is a permanent error; "" means that it is none. A record has
// one reason, the first of Reasons that applies.
type Reason string

// The reasons.
const (
	NoIssueMapping   Reason = "no_issue_mapping"
	NoCommentMapping Reason = "no_comment_mapping"
	NoParentMapping  Reason = "no_parent_mapping"
	SelfParent       Reason = "self_parent"      // the comment is its own parent
	Cycle            Reason = "cycle"            // its parents lead back to it
	OtherIssue       Reason = "other_issue"      // its parent is in another issue
	SameTarget       Reason = "same_target"      // the mappings give another comment the same cloud id
	TargetNotFound   Reason = "target_not_found" // the target has no such issue
	TargetForbidden  Reason = "target_forbidden" // the target forbids this issue
	ChangedByOthers  Reason = "target_changed"   // others changed what the target has of this issue
)

// Reasons lists all reasons in the order in which they are looked for.
func Reasons() []Reason {
	return []Reason{
		NoIssueMapping, NoCommentMapping, NoParentMapping, SelfParent, Cycle, OtherIssue, SameTarget,
		TargetNotFound, TargetForbidden, ChangedByOthers,
	}
}

// Values are the reasons.
func (Reason) Values() []string { return names(Reasons()) }

// Sentence says the reason to people.
func (r Reason) Sentence() string {
	switch r {
	case NoIssueMapping:
		return "The issue has no entry in the id mappings."
	case NoCommentMapping:
		return "The comment has no entry in the id mappings."
	case NoParentMapping:
		return "The parent comment has no entry in the id mappings."
	case SelfParent:
		return "The comment is its own parent."
	case Cycle:
		return "The comment's parents lead back to it."
	case OtherIssue:
		return "The parent comment is in another issue."
	case SameTarget:
		return "The id mappings give this comment and another one the same cloud id."
	case TargetNotFound:
		return "The target has no such issue."
	case TargetForbidden:
		return "The target forbids this issue."
	case ChangedByOthers:
		return "Others changed what the target has of this issue; it is left as it is."
	}
	return ""
}

// OfTarget reports whether the target refused the record, which it may take another
// time.
func (r Reason) OfTarget() bool {
	return r == TargetNotFound || r == TargetForbidden || r == ChangedByOthers
}

// ErrorRecord is a permanent error.
type ErrorRecord struct {
	Record
	Reason Reason
	Answer Answer // of the target, where it refused the record
	At     ErrorPlace
}

// ErrorPlace is where an error is among all of them: a chunk and a place in it.
type ErrorPlace struct{ Chunk, Entry int64 }

// String writes the place as a key of lists.
func (p ErrorPlace) String() string { return fmt.Sprintf("%d.%d", p.Chunk, p.Entry) }

// ParseErrorPlace reads what String wrote. Anything else is fault.Invalid, about the
// parameter after.
func ParseErrorPlace(text string) (at ErrorPlace, err error) {
	if _, err := fmt.Sscanf(text, "%d.%d", &at.Chunk, &at.Entry); err != nil || at.String() != text {
		return at, fault.InvalidField("after", "Use the value of next from the previous page.")
	}
	return at, nil
}
