package bitbucketdc

import (
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// hook is a body: the members of every key's, as they came.
type hook struct {
	key  text // the body's own
	site site

	date       time.Time
	actor      person
	repository repository

	// repo:refs_changed, mirror:repo_synchronized
	changes      []change
	changesGiven bool
	commits      []commit
	toCommit     commit

	// pr:*
	pullRequest         pullRequest
	participant         person
	previousStatus      string
	added, removed      []notify.User
	previousFromHash    string
	previousTitle       text
	previousDescription text
	previousDraft       text
	previousTarget      ref

	// comments
	comment  comment
	parentID int64
	commit   string

	// repo:modified, project:modified
	before, after modified

	// mirror:repo_synchronized, repo:secret_detected
	mirror, syncType string
	refLimitExceeded bool
	secrets          []secretLocation
	secretsGiven     bool
}

// text is a text that may be absent; null counts as given and empty.
type text struct {
	given bool
	is    string
}

func readText(r *payload.Reader) text { return text{true, r.Text()} }

// readKey reads what happened; what is no string says nothing.
func readKey(r *payload.Reader) text { return text{r.Kind() == '"', r.Text()} }

func (h *hook) read(r *payload.Reader) {
	for name := range r.Object {
		switch string(name) {
		case "eventKey":
			h.key = readKey(r)
		case "date":
			h.date = r.Time()
		case "actor":
			h.actor = readPerson(r)
		case "repository":
			h.repository.read(r)
		case "pullRequest":
			h.pullRequest.read(r)
		case "changes":
			h.changesGiven = r.Kind() == '['
			h.changes = payload.All(r, readChange)
		case "commits":
			h.commits = payload.All(r, readCommit)
		case "toCommit":
			h.toCommit.read(r)
		case "comment":
			h.comment = readComment(r)
		case "commit":
			h.commit = r.Text()
		default:
			h.readRare(name, r)
		}
	}
}

// readRare reads the members that only a few keys have.
func (h *hook) readRare(name []byte, r *payload.Reader) {
	switch string(name) {
	case "participant":
		h.participant = readParticipant(r)
	case "previousStatus":
		h.previousStatus = r.Text()
	case "addedReviewers":
		h.added = payload.All(r, readUser)
	case "removedReviewers":
		h.removed = payload.All(r, readUser)
	case "previousFromHash":
		h.previousFromHash = r.Text()
	case "previousTitle":
		h.previousTitle = readText(r)
	case "previousDescription":
		h.previousDescription = readText(r)
	case "previousDraft":
		h.previousDraft = text{r.Kind() != 'n', notify.YesNo(r.Bool())}
	case "previousTarget":
		h.previousTarget = readRef(r)
	case "commentParentId":
		h.parentID = r.Int()
	case "old":
		h.before.read(r)
	case "new":
		h.after.read(r)
	case "mirrorServer":
		h.mirror = readMember(r, "name")
	case "syncType":
		h.syncType = r.Text()
	case "refLimitExceeded":
		h.refLimitExceeded = r.Bool()
	case "secretLocations":
		h.secretsGiven = r.Kind() == '['
		h.secrets = payload.All(r, readSecretLocation)
	}
}

// event is what every event of the body has.
func (h *hook) event(types ...notify.EventType) notify.Event {
	e := notify.Event{Types: types, Key: h.key.is, At: h.date, Actor: h.actor.user()}
	h.place(&e, &h.repository)
	return e
}

// place says where the event happened.
func (h *hook) place(e *notify.Event, r *repository) {
	e.Project = h.site.project(&r.project)
	e.Repository = h.site.repository(r)
	if e.URL == "" {
		e.URL = e.Repository.URL
	}
}
