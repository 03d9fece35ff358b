package bitbucketcloud

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// hook is a body: the members of every key's, as they came.
type hook struct {
	key  text // the body's own, which the platform does not send
	has  members
	site site

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

// text is a text that may be absent.
type text struct {
	given bool
	is    string
}

func (h *hook) read(r *payload.Reader) {
	for name := range r.Object {
		object := r.Kind() == '{'
		given := func(m members) {
			if h.has &^= m; object {
				h.has |= m
			}
		}
		switch string(name) {
		case "eventKey":
			h.key = text{r.Kind() == '"', r.Text()}
		case "actor":
			h.actor = readUser(r)
		case "repository":
			h.repository = readRepository(r)
		case "push":
			given(hasPush)
			h.push = readPush(r)
		case "pullrequest":
			given(hasPullRequest)
			h.pullRequest = readPullRequest(r)
		case "approval":
			given(hasApproval)
			h.review = readReview(r)
		case "changes_request":
			given(hasChangesRequest)
			h.review = readReview(r)
		case "comment":
			given(hasComment)
			h.comment = readComment(r)
		case "commit":
			given(hasCommit)
			h.commit = readCommit(r).id
		case "commit_status":
			given(hasStatus)
			h.status = readStatus(r)
		case "changes":
			h.changes = readChanges(r)
			object = len(h.changes) > 0
			given(hasChanges)
		case "issue":
			given(hasIssue)
			h.issue = readIssue(r)
		case "fork":
			given(hasFork)
			h.fork = readRepository(r)
		case "project":
			given(hasProject)
			h.project = readProject(r)
		case "previous_owner":
			given(hasPreviousOwner)
			h.previousOwner = readUser(r)
		case "resourceSpans":
			object = r.Kind() == '['
			given(hasSpans)
		}
	}
}

// event is what every event of the body has.
func (h *hook) event(types ...notify.EventType) notify.Event {
	e := notify.Event{Types: types, Key: h.key.is, Actor: h.actor.user()}
	h.place(&e, h.repository)
	return e
}

// place says where the event happened.
func (h *hook) place(e *notify.Event, r repository) {
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
