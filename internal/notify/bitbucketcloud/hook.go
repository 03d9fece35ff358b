package bitbucketcloud

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// hook has the members of a body, whatever its event key.
type hook struct {
	key    string // of the body, in which the platform does not send it; else of the header
	hasKey bool
	has    members
	site   site

	actor      user
	repository repository

	push          []change
	fork          repository
	changes       []fieldChange
	comment       comment
	commit        string
	status        commitStatus
	project       project
	issue         issue
	pullRequest   pullRequest
	review        review
	previousOwner user
}

func (h *hook) read(r *payload.Reader) {
	for name := range r.Object {
		object := r.Kind() == '{'
		switch string(name) {
		case "eventKey":
			h.hasKey = r.Kind() == '"'
			h.key = r.Text()
		case "actor":
			h.actor = readUser(r)
		case "repository":
			h.repository.read(r)
		case "push":
			h.has.set(hasPush, object)
			h.push = readPush(r)
		case "pullrequest":
			h.has.set(hasPullRequest, object)
			h.pullRequest.read(r)
		case "approval":
			h.has.set(hasApproval, object)
			h.review = readReview(r)
		case "changes_request":
			h.has.set(hasChangesRequest, object)
			h.review = readReview(r)
		case "comment":
			h.has.set(hasComment, object)
			h.comment = readComment(r)
		case "commit":
			h.has.set(hasCommit, object)
			h.commit = readCommit(r).id
		case "commit_status":
			h.has.set(hasStatus, object)
			h.status.read(r)
		case "changes":
			h.changes = readChanges(r)
			h.has.set(hasChanges, len(h.changes) > 0)
		case "issue":
			h.has.set(hasIssue, object)
			h.issue.read(r)
		case "fork":
			h.has.set(hasFork, object)
			h.fork.read(r)
		case "project":
			h.has.set(hasProject, object)
			h.project = readProject(r)
		case "previous_owner":
			h.has.set(hasPreviousOwner, object)
			h.previousOwner = readUser(r)
		case "resourceSpans":
			h.has.set(hasSpans, r.Kind() == '[')
		}
	}
}

// event returns an event with what every event of the body has.
func (h *hook) event(types ...notify.EventType) notify.Event {
	e := notify.Event{Types: types, Key: h.key, Actor: h.actor.user()}
	h.place(&e, &h.repository)
	return e
}

// place says where the event happened.
func (h *hook) place(e *notify.Event, r *repository) {
	e.Project = h.site.workspace(r)
	e.Repository = h.site.repository(r)
	e.URL = e.Repository.URL
}

// addProject adds, as a last fact, the project that groups the repository with
// others: rules and hooks go by workspace and repository.
func (h *hook) addProject(events []notify.Event) {
	project := h.repository.project.label()
	for i := range events {
		if e := &events[i]; project != "" && e.Repository.Key != "" {
			e.Facts = append(e.Facts, notify.Fact{Name: "Project", Value: project})
		}
	}
}
