package notify

import (
	"slices"

	"outrigger/internal/fault"
)

// CommitStatus says which builds a rule of the cloud edition takes as
// BuildStatusSet. Those that are in progress are never taken as that.
type CommitStatus string

const (
	StatusSuccess CommitStatus = "SUCCESS"
	StatusFailure CommitStatus = "FAILURE"
	StatusBoth    CommitStatus = "BOTH" // the default
)

var commitStatuses = []CommitStatus{StatusSuccess, StatusFailure, StatusBoth}

// wants is what a rule with the status takes, as a reason says it.
func (s CommitStatus) wants() string {
	switch s {
	case StatusSuccess:
		return "builds that succeeded"
	case StatusFailure:
		return "builds that failed or were stopped"
	}
	return "builds that have ended"
}

// takes reports whether a rule with the status takes a build in a state of the
// platform. A state that is not known here, of a later version of the platform,
// is neither success nor failure, and has ended.
func (s CommitStatus) takes(state string) bool {
	switch state {
	case "INPROGRESS":
		return false
	case "SUCCESSFUL":
		return s != StatusFailure
	case "FAILED", "STOPPED", "CANCELLED": // the last is what the self-hosted edition calls stopped
		return s != StatusSuccess
	}
	return s == StatusBoth
}

// hasBuild is the event's build as a reason says it.
func hasBuild(e *Event) string {
	if e.Build == nil {
		return ""
	}
	switch e.Build.State {
	case "INPROGRESS":
		return "a build in progress"
	case "SUCCESSFUL":
		return "a build that succeeded"
	case "FAILED":
		return "a build that failed"
	case "STOPPED", "CANCELLED":
		return "a build that was stopped"
	}
	return "a build in the state " + e.Build.State
}

// takesStatus reports whether the rule takes the event by another of its types, or
// its build has the status that the rule expects.
func (c *CompiledRule) takesStatus(s *subject) bool {
	if s.Build == nil || !s.types.Has(BuildStatusSet) || (c.types&s.types&^NewTypeSet(BuildStatusSet)) != 0 {
		return true
	}
	return c.ExpectedCommitStatus.takes(s.Build.State)
}

func (r *Rule) validateCommitStatus(f *fault.Fields) {
	if r.ExpectedCommitStatus != "" && !slices.Contains(commitStatuses, r.ExpectedCommitStatus) {
		f.Add("expectedCommitStatus", "%q is not a commit status; use SUCCESS, FAILURE or BOTH.", r.ExpectedCommitStatus)
	}
}
