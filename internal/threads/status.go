package threads

import (
	"slices"
	"time"
)

// MigrationStatus is how the migration stands.
type MigrationStatus struct {
	Status            Status          `json:"status" doc:"How it stands, in a word; phase says more."`
	Phase             Phase           `json:"phase" doc:"More than the status: within IDLE, EMPTY, LOADING, READY and PAUSED."`
	Progress          recordProgress  `json:"progress" doc:"In distinct records, errors included."`
	Chunks            chunkProgress   `json:"chunks" doc:"Of about 1,000 records; an issue is in one chunk."`
	IssuesProcessed   int64           `json:"issuesProcessed" doc:"Issues of which every record is processed."`
	ParentMapsCreated int64           `json:"parentMapsCreated" doc:"Thread relationships of this data that are in the target."`
	Errors            migrationErrors `json:"errors" doc:"What failed so far."`
	Rate              float64         `json:"rate,omitzero"`
	SecondsLeft       int64           `json:"secondsLeft,omitzero" doc:"How long the rest takes at that rate, in seconds."`
	WaitUntil         time.Time       `json:"waitUntil,omitzero" doc:"Nothing is sent to the target before."`
	StartedAt         time.Time       `json:"startedAt,omitzero" doc:"When it was started; absent: not yet."`
	UpdatedAt         time.Time       `json:"updatedAt,omitzero" doc:"When any of this changed last."`
	Undo              *UndoProgress   `json:"undo,omitempty" doc:"How far the migration is undone; absent where nothing was undone."`
	Message           string          `json:"message,omitempty" doc:"What people should know: why it stopped, or how far loading is."`
	Allowed           []Operation     `json:"allowed" doc:"The operations that can be done now."`
	Incomplete        []string        `json:"incomplete,omitempty"`
	Verified          *Verified       `json:"verified,omitempty"`
	Data              *Drafts         `json:"data,omitempty" doc:"The files that are loaded or being loaded; absent where there are none."`
}

// MemberWords are those too long for a tag.
func (MigrationStatus) MemberWords() map[string]string {
	return map[string]string{
		"rate":       "Records a second, of the last half minute; absent where it is not known yet, or nothing is processed.",
		"incomplete": "What is wrong with the files of the data, which was accepted when they were loaded; absent where nothing is.",
		"verified": "The last comparison of the data with the target in short, as `verify` answers it in full; absent where there was " +
			"none. A migration ends with one.",
	}
}

// Undoing reports whether the migration is being undone, or that has paused.
func (s *MigrationStatus) Undoing() bool { return s.Undo != nil && s.Undo.Active }

// Has reports whether the files are those that are loaded.
func (s *MigrationStatus) Has(files Drafts) bool {
	return s.Data != nil && s.Data.Hierarchy.ID == files.Hierarchy.ID && s.Data.Mappings.ID == files.Mappings.ID
}

// recordProgress is how many records are done.
type recordProgress struct {
	Processed int64 `json:"processed" doc:"Records that are processed, errors included."`
	Total     int64 `json:"total" doc:"Records of the data."`
	Percent   int   `json:"percent" min:"0" max:"100" doc:"The share that is processed, rounded down; 100 only at the end."`
}

// chunkProgress is how many chunks are done.
type chunkProgress struct {
	Processed int64 `json:"processed" doc:"Chunks that are processed."`
	Total     int64 `json:"total" doc:"Chunks of the data."`
}

// migrationErrors is how many records are errors.
type migrationErrors struct {
	Permanent int64        `json:"permanent" doc:"Records for which a retry does not help; errors lists them."`
	Retryable int64        `json:"retryable" doc:"Failures that were or are retried."`
	Groups    []ErrorGroup `json:"groups,omitempty" doc:"The permanent errors by reason and the target's words; absent: none."`
}

// UndoProgress is how far the migration is undone.
type UndoProgress struct {
	Active bool       `json:"active"`
	Issues int64      `json:"issues" doc:"Issues that are undone."`
	Kept   int64      `json:"kept" doc:"Those of them with thread relationships that others changed since, which stay."`
	Left   []UndoLeft `json:"left,omitempty"`
}

// MemberWords are those too long for a tag.
func (UndoProgress) MemberWords() map[string]string {
	return map[string]string{
		"active": "It is not over. While it goes on, progress, chunks, issuesProcessed, parentMapsCreated and errors go down.",
		"left": "The first 100 issues that were left, in whole or in part: `target_changed` by others, which stays; `target_forbidden` " +
			"and `target_not_found`, which a later `continue` or `undo` tries again. `errors.csv` and the report list all.",
	}
}

// Allows returns nil, or fault.Conflict with the status and what is allowed.
func (s *MigrationStatus) Allows(op Operation) error {
	if slices.Contains(s.Allowed, op) {
		return nil
	}
	return notAllowed(s.Phase, op, s.Allowed)
}

// StatusOf is what m itself says of how it stands; its pace, its data and what undoing
// has left are for the caller to add.
func StatusOf(m *Migration) MigrationStatus {
	s := MigrationStatus{
		Status: m.Phase.Status(), Phase: m.Phase,
		Progress:        recordProgress{m.RecordsDone, m.Records, m.Percent()},
		Chunks:          chunkProgress{m.ChunksDone, m.Chunks},
		IssuesProcessed: m.Issues, ParentMapsCreated: m.ParentMaps,
		Errors:    migrationErrors{m.Permanent, m.Retryable, m.Groups.Counted()},
		StartedAt: m.StartedAt, UpdatedAt: m.UpdatedAt, Message: m.Message, Allowed: m.Allowed(),
	}
	if m.Undoing || m.Undone > 0 {
		s.Undo = &UndoProgress{Active: m.Undoing, Issues: m.Undone, Kept: m.Kept}
	}
	return s
}
