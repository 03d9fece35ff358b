package bitbucketcloud

import (
	"slices"

	"outrigger/internal/notify"
)

// members is a set of members of a body by which the events differ; null is as
// if it were absent.
type members uint16

const (
	hasPush members = 1 << iota
	hasFork
	hasChanges
	hasComment
	hasCommit
	hasStatus
	hasProject
	hasIssue
	hasPullRequest
	hasApproval
	hasChangesRequest
	hasPreviousOwner
	hasSpans
)

// subjects are what a body is about.
const subjects = hasPush | hasFork | hasStatus | hasProject | hasIssue | hasPullRequest | hasSpans

var memberNames = []string{
	"push", "fork", "changes", "comment", "commit", "commit_status", "project", "issue", "pullrequest", "approval", "changes_request",
	"previous_owner",
	"resourceSpans", // of OpenTelemetry
}

// set adds which to the set if the body has it, and else removes it: of a member that
// is repeated the last one counts.
func (m *members) set(which members, has bool) {
	if has {
		*m |= which
	} else {
		*m &^= which
	}
}

// first names one of the members.
func (m members) first() string {
	for i, name := range memberNames {
		if m&(1<<i) != 0 {
			return name
		}
	}
	return ""
}

// check refuses to understand what belongs to another event than the key's, as far
// as its shape tells, so that a recorded body does not pass for every other one:
// it lacks what the event has, is about something else, or contradicts the event.
// What else it has is no matter: the platform adds members, and says how things
// stand when it sends, which may be later.
func (h *hook) check(k *kind) error {
	missing, foreign := k.has&^h.has, h.has&^(k.has|k.may)
	if k.has != 0 { // else nothing but the lack of others' members tells
		foreign &= subjects
	}
	state, c := h.pullRequest.state, &h.comment
	switch {
	case missing != 0:
		return notify.NotUnderstood("there is no %s", missing.first())
	case foreign != 0:
		return notify.NotUnderstood("it has the member %s, as another event has", foreign.first())
	case k.states != nil && slices.Contains(states, state) && !slices.Contains(k.states, state):
		return notify.NotUnderstood("its pull request is %s", state)
	case k.has&hasComment != 0 && c.deleted && !k.deletes:
		return notify.NotUnderstood("its comment is deleted")
	case k.has&hasComment != 0 && c.kept && k.deletes:
		return notify.NotUnderstood("its comment is not deleted")
	}
	return nil
}

// states are those of a pull request. The vendor's samples have others.
var states = []string{"OPEN", "MERGED", "DECLINED", "SUPERSEDED"}
