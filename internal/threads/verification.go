package threads

import (
	"fmt"
	"time"
)

// Compared counts relations: what should be in the target, and what is.
type Compared struct {
	Relations int64 `json:"relations" doc:"Expected, those that the target refused included."`
	Present   int64 `json:"present" doc:"Relations that are in the target as expected."`
	Missing   int64 `json:"missing" doc:"Relations that are not in the target."`
	Different int64 `json:"different" doc:"With another parent."`
}

// Comparison is what was found so far when the target was compared with the data.
type Comparison struct {
	Issues int64 `json:"issues" doc:"Compared."`
	Compared
	First       []Difference   `json:"first" doc:"The first hundred that are missing or different."`
	NotCompared int64          `json:"notCompared" doc:"Records that are errors of the data, or in issues that the target does not show."`
	Skipped     []SkippedIssue `json:"skipped,omitempty" doc:"The first 100 issues that the target does not show, or does not let be read."`
	Projects    ProjectCounts  `json:"projects,omitempty"` // counted where the target knows what its issues are called
}

// Complete reports whether the target has everything that the files hold.
func (c *Comparison) Complete() bool { return c.Missing+c.Different+c.NotCompared == 0 }

// MemberWords are those too long for a tag.
func (Comparison) MemberWords() map[string]string {
	return map[string]string{
		"projects": "What there is of each project, by its key; an empty key is for issues whose project is not known. Absent where the " +
			"target knows none.",
	}
}

// Verification compares the target with the data that is loaded.
type Verification struct {
	State string  `json:"state" enum:"running,done,failed" doc:"Where the comparison stands."`
	Done  float64 `json:"done" min:"0" max:"1" doc:"How far the comparison is, from 0 to 1."`
	Comparison
	WaitUntil  time.Time `json:"waitUntil,omitzero" doc:"The target is not called before this time."`
	UpdatedAt  time.Time `json:"updatedAt,omitzero" doc:"When any of this changed last."`
	Message    string    `json:"message,omitempty" doc:"What people should know: why it failed, or how it ended."`
	Incomplete []string  `json:"incomplete,omitempty" doc:"What is wrong with the files of the data; absent where nothing is."`
}

// Verified is what a comparison of the target with the data found, in short.
type Verified struct {
	State    string `json:"state" enum:"running,done,failed" doc:"Where the comparison stands."`
	Complete bool   `json:"complete" doc:"The comparison is done and the target has everything that the files hold."`
	Compared
	NotCompared int64 `json:"notCompared" doc:"Records that are errors of the data, or in issues that the target does not show."`
}

// String is the comparison in a few words.
func (v *Verified) String() string {
	switch {
	case v.State == JobFailed:
		return "the target could not be compared"
	case v.State != JobDone:
		return "being compared"
	}
	text := fmt.Sprintf("%d of %d relationships are in the target", v.Present, v.Relations)
	if v.NotCompared > 0 {
		text += fmt.Sprintf(", %d not compared", v.NotCompared)
	}
	return text
}

// Restoration is a backup on its way into the target.
type Restoration struct {
	State     string      `json:"state" enum:"running,done,failed" doc:"Where the restore stands."`
	Mode      RestoreMode `json:"mode" doc:"What becomes of threads that the backup does not have: merge keeps them, replace deletes them."`
	Upload    int64       `json:"upload" doc:"The id that the backup had as an upload."`
	Issues    int64       `json:"issues" doc:"In the backup."`
	Done      int64       `json:"done" doc:"Of them."`
	Refused   int64       `json:"refused" doc:"Issues that the target does not have, or does not let be written."`
	WaitUntil time.Time   `json:"waitUntil,omitzero" doc:"The target is not called before this time."`
	UpdatedAt time.Time   `json:"updatedAt,omitzero" doc:"When any of this changed last."`
	Message   string      `json:"message,omitempty" doc:"What people should know: why it failed, or how it ended."`
}
