package bitbucketcloud

import (
	"slices"

	"outrigger/internal/fault"
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

var memberNames = []string{
	"push", "fork", "changes", "comment", "commit", "commit_status", "project", "issue", "pullrequest", "approval", "changes_request", "previous_owner",
	"resourceSpans", // of OpenTelemetry
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

// check holds the body to the shape of its key, so that a recorded one cannot be
// sent again as another event, as far as its shape tells. What has nothing of
// any event is not understood.
func (h *hook) check(k *kind) error {
	missing, foreign := k.has&^h.has, h.has&^(k.has|k.may)
	state, c := h.pullRequest.state, &h.comment
	switch {
	case missing != 0 && h.has == 0:
		return notify.NotUnderstood("there is no %s", missing.first())
	case missing != 0:
		return h.another("it has no " + missing.first())
	case foreign != 0:
		return h.another("it has the member " + foreign.first())
	case k.state != "" && state != k.state && slices.Contains(states, state):
		return h.another("its pull request is " + state)
	case k.has&hasComment != 0 && c.deleted && !k.deletes:
		return h.another("its comment is deleted")
	case k.has&hasComment != 0 && c.kept && k.deletes:
		return h.another("its comment is not deleted")
	}
	return nil
}

// states are those of a pull request. The vendor's samples have others.
var states = []string{"OPEN", "MERGED", "DECLINED", "SUPERSEDED"}

func (h *hook) another(why string) error {
	return fault.New(fault.Invalid, "The header X-Event-Key is %q, but the body belongs to another event: %s.", h.key.is, why)
}
