package threads

import "time"

// Verification compares the target with the data that is loaded.
type Verification struct {
	State       string         `json:"state" enum:"running,done,failed"`
	Done        float64        `json:"done" min:"0" max:"1" doc:"How far the comparison is, from 0 to 1."`
	Issues      int64          `json:"issues" doc:"Compared."`
	Relations   int64          `json:"relations" doc:"Expected, those that the target refused included."`
	Present     int64          `json:"present" doc:"Relations that are in the target as expected."`
	Missing     int64          `json:"missing" doc:"Relations that are not in the target."`
	Different   int64          `json:"different" doc:"With another parent."`
	First       []Difference   `json:"first" doc:"The first hundred that are missing or different."`
	NotCompared int64          `json:"notCompared" doc:"Records that are errors of the data, or in issues that the target does not show."`
	Skipped     []SkippedIssue `json:"skipped,omitempty" doc:"The first 100 issues that the target does not show, or does not let be read."`
	WaitUntil   time.Time      `json:"waitUntil,omitzero" doc:"The target is not called before this time."`
	UpdatedAt   time.Time      `json:"updatedAt,omitzero"`
	Message     string         `json:"message,omitempty"`
	Projects    ProjectCounts  `json:"projects,omitempty"`
	Incomplete  []string       `json:"incomplete,omitempty" doc:"What is wrong with the files of the data; absent where nothing is."`
}

// MemberWords are those too long for a tag.
func (Verification) MemberWords() map[string]string {
	return map[string]string{
		"projects": "What there is of each project, by its key; an empty key is for issues whose project is not known. Absent where the " +
			"target knows none.",
	}
}

// Complete reports whether the target has everything that the files hold.
func (v *Verification) Complete() bool { return v.Missing+v.Different+v.NotCompared == 0 }

// Restoration is a backup on its way into the target.
type Restoration struct {
	State     string      `json:"state" enum:"running,done,failed"`
	Mode      RestoreMode `json:"mode"`
	Upload    int64       `json:"upload" doc:"The id that the backup had as an upload."`
	Issues    int64       `json:"issues" doc:"In the backup."`
	Done      int64       `json:"done" doc:"Of them."`
	Refused   int64       `json:"refused" doc:"Issues that the target does not have, or does not let be written."`
	WaitUntil time.Time   `json:"waitUntil,omitzero" doc:"The target is not called before this time."`
	UpdatedAt time.Time   `json:"updatedAt,omitzero"`
	Message   string      `json:"message,omitempty"`
}
