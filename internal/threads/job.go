package threads

import (
	"encoding/json"
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// Job is what runs beside the migration.
type Job struct {
	Name      string
	State     string // "" where there is none
	Epoch     int64
	Detail    string // JSON: a RestoreJob or a VerifyJob
	Message   string
	UpdatedAt time.Time
}

// The jobs and their states.
const (
	JobRestore = "restore"
	JobVerify  = "verify"

	JobRunning = "running"
	JobDone    = "done"
	JobFailed  = "failed"
)

// RestoreMode says what a restore does with what the backup does not have.
type RestoreMode string

// The modes.
const (
	RestoreMerge   RestoreMode = "merge"   // relations and issues that it does not name stay
	RestoreReplace RestoreMode = "replace" // they go
)

// Values are the modes.
func (RestoreMode) Values() []string { return []string{string(RestoreMerge), string(RestoreReplace)} }

// ParseRestoreMode reads a mode: fault.Invalid, about the parameter mode, where it
// is none.
func ParseRestoreMode(text string) (RestoreMode, error) {
	mode := RestoreMode(text)
	if mode != RestoreMerge && mode != RestoreReplace {
		return "", fault.InvalidField("mode", "Use merge to keep threads that are not in the backup, or replace to delete them.")
	}
	return mode, nil
}

// RestoreJob is a backup on its way into the target.
type RestoreJob struct {
	Mode    RestoreMode `json:"mode"`
	Upload  int64       `json:"upload"`
	Issues  int64       `json:"issues"`  // in the backup
	Done    int64       `json:"done"`    // of them
	Refused int64       `json:"refused"` // issues that the target does not have or does not allow writing to
	Before  int64       `json:"before"`  // the version before it: what is not newer in the end is not in the backup
	Pace    Pace        `json:"pace"`
}

// VerifyJob compares the target with what was loaded.
type VerifyJob struct {
	Stage   int64 `json:"stage"`
	Version int64 `json:"version"` // of the maps when it began
	Chunk   int64 `json:"chunk"`   // the next one
	Place   int   `json:"place"`   // the next issue of it
	Chunks  int64 `json:"chunks"`
	Pace    Pace  `json:"pace"`
	Comparison
}

// Difference is a relation that is not in the target as it should be.
type Difference struct {
	CloudIssueID int64  `json:"issueId,string" doc:"The issue on the target."`
	CommentID    int64  `json:"commentId,string" doc:"The comment on the target."`
	Expected     int64  `json:"expected,string" doc:"The parent that it should have."`
	Found        int64  `json:"found,string,omitempty" doc:"The parent that it has; absent where there is none."`
	IssueKey     string `json:"issueKey,omitempty" doc:"What people call the issue; absent where the target does not say it."`
}

// Read decodes the job's detail.
func (j Job) Read(detail any) error {
	if err := json.Unmarshal([]byte(j.Detail), detail); err != nil {
		return fmt.Errorf("decoding the job %s: %w", j.Name, err)
	}
	return nil
}

// Compare counts an issue: what should be there, and what is. key is what people
// call it; "" where that is not known.
func (v *VerifyJob) Compare(i IssueEntries, key string, found ParentMap) {
	cloudIssueID, expected := i.CloudIssueID, i.Wanted()
	v.Issues++
	v.NotCompared += int64(len(i.Entries) - len(expected))
	for _, r := range expected {
		v.Relations++
		parent, ok := found.Parent(r.CommentID)
		switch {
		case ok && parent == r.ParentID:
			v.Present++
			continue
		case ok:
			v.Different++
		default:
			v.Missing++
		}
		if len(v.First) < MaxListed {
			v.First = append(v.First, Difference{cloudIssueID, r.CommentID, r.ParentID, parent, key})
		}
	}
}

// SkippedIssue is an issue that was not compared.
type SkippedIssue struct {
	CloudIssueID int64  `json:"issueId,string" doc:"The issue on the target."`
	IssueKey     string `json:"issueKey,omitempty" doc:"What people call it, where the target says it."`
}

// Skip counts an issue that the target does not show.
func (v *VerifyJob) Skip(i IssueEntries, key string) {
	v.Issues++
	if len(v.Skipped) < MaxListed {
		v.Skipped = append(v.Skipped, SkippedIssue{i.CloudIssueID, key})
	}
	v.NotCompared += int64(len(i.Entries))
}
