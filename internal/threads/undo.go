package threads

// Undo takes back the relations that an issue was given.
type Undo struct {
	IssueMap           // the relations
	IssueID  int64     // the issue's id on the self-hosted side
	At       Place     // where it is in the data
	Before   ParentMap // what the issue had of their comments
}

// UndoLeft is an issue that undoing has left as it is, or in part.
type UndoLeft struct {
	At           Place  `json:"-"`
	CloudIssueID int64  `json:"cloudIssueId,string" doc:"The issue's id on the target."`
	IssueID      int64  `json:"issueId" doc:"The issue's id on the self-hosted side."`
	Reason       Reason `json:"reason" doc:"Why it was left."` // one of the target's
	Answer       Answer `json:"answer,omitzero"`
}

// Of makes of an issue's map what it would be had it not been given the
// relations. Comments whose parents were changed since keep these: kept tells
// that there are some. Applied again, it changes nothing.
func (u *Undo) Of(now ParentMap) (undone ParentMap, kept bool) {
	var back ParentMap
	gone := map[int64]bool{}
	for _, r := range u.Parents {
		parent, is := now.Parent(r.CommentID)
		before, was := u.Before.Parent(r.CommentID)
		switch {
		case is && parent == r.ParentID && was:
			back = append(back, Relation{r.CommentID, before})
		case is && parent == r.ParentID:
			gone[r.CommentID] = true
		case is != was || parent != before:
			kept = true
		}
	}
	undone = make(ParentMap, 0, len(now))
	for _, r := range now {
		if !gone[r.CommentID] {
			undone = append(undone, r)
		}
	}
	return undone.Merge(back), kept
}

// Of returns the relations of m whose comments are in another map too.
func (m ParentMap) Of(other ParentMap) ParentMap {
	part := ParentMap{}
	for _, r := range m {
		if _, ok := other.Parent(r.CommentID); ok {
			part = append(part, r)
		}
	}
	return part
}
