package threads

import "errors"

// ErrOvertaken is for a worker whose work is no longer wanted: an administrator
// stopped it, or another worker has taken over.
var ErrOvertaken = errors.New("threads: the work was stopped or taken over")

// Written is what a worker did since its last commit.
type Written struct {
	// Add are to be added to the maps of the database, where that is the target.
	Add []*News
	// Undo are to be undone in the maps of the database.
	Undo []Undo
	// Left are issues that could not be undone, or not wholly.
	Left []UndoLeft
	// Put are maps as another target has them now.
	Put []IssueMap
	// Forget are places where nothing is left to undo.
	Forget []Place
	// Chunks have entries whose reason only the target knew.
	Chunks []*Chunk
}

// News are the relations that an issue of a chunk brings.
type News struct {
	IssueMap
	Chunk *Chunk
	Place int

	// Closing are the comments, of those whose relations would close a cycle with
	// what the target holds. The store finds them when it commits.
	Closing []int64
	// Before is what the issue had of the relations' comments, found as Closing is.
	Before ParentMap
}

// JobWritten is what a job did since its last commit.
type JobWritten struct {
	Merge, Put []IssueMap
	Stay       []int64 // issues whose maps stay, and are no StaleMaps
	Remove     []int64 // issues
	Drop       int64   // an upload that is no longer needed
}
