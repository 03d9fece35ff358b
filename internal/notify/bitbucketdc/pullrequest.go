package bitbucketdc

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

type pullRequest struct {
	id                int64
	title, state      string
	description       []byte
	draft             bool
	from, to          ref
	fromHash          []byte
	repository        repository           // the target's
	fork              notify.RepositoryRef // the source's, which is the same but for a fork
	author            person
	reviewers         []notify.User
	mergeCommit, link string
}

func (p *pullRequest) read(r *payload.Reader) {
	*p = pullRequest{}
	for name := range r.Object {
		switch string(name) {
		case "id":
			p.id = r.Int()
		case "title":
			p.title = r.Text()
		case "description":
			p.description = r.Raw()
		case "state":
			p.state = r.Text()
		case "draft":
			p.draft = r.Bool()
		case "fromRef":
			p.readSource(r)
		case "toRef":
			p.readTarget(r)
		case "author":
			p.author = readParticipant(r)
		case "reviewers":
			p.reviewers = payload.All(r, readReviewer)
		case "properties":
			p.mergeCommit = readMergeCommit(r)
		case "links":
			p.link = readSelf(r)
		}
	}
}

func (p *pullRequest) readTarget(r *payload.Reader) {
	p.to, p.repository = ref{}, repository{}
	for name := range r.Object {
		if string(name) == "repository" {
			p.repository.read(r)
		} else {
			p.to.member(name, r)
		}
	}
}

func (p *pullRequest) readSource(r *payload.Reader) {
	p.from, p.fromHash, p.fork = ref{}, nil, notify.RepositoryRef{}
	for name := range r.Object {
		switch string(name) {
		case "repository":
			p.fork = readRepositoryRef(r)
		case "latestCommit":
			p.fromHash = r.Raw()
		default:
			p.from.member(name, r)
		}
	}
}

func readMergeCommit(r *payload.Reader) string {
	var id string
	for name := range r.Object {
		if string(name) == "mergeCommit" {
			id = payload.Hash(readID(r))
		}
	}
	return id
}

// pullRequestEvent is what the events of all pr: keys have.
func pullRequestEvent(h *hook, e *notify.Event) error {
	p := &h.pullRequest
	if p.id <= 0 {
		return notify.NotUnderstood("there is no pullRequest with an id")
	}
	h.place(e, &p.repository)
	e.URL = h.site.pullRequest(p)
	e.Branch = p.to.name()
	e.SourceBranch = p.from.name()
	e.Reviewers = p.reviewers
	e.PullRequest = &notify.PullRequest{
		ID:          p.id,
		Title:       payload.Cut(p.title),
		Description: payload.Beginning(p.description),
		State:       payload.Cut(p.state),
		Draft:       p.draft,
		Author:      p.author.user(),
		Source:      e.SourceBranch,
		Target:      e.Branch,
		URL:         e.URL,
		MergeCommit: p.mergeCommit,
	}
	from := p.fork
	to := notify.RepositoryRef{ProjectKey: p.repository.project.key, RepositoryKey: p.repository.slug}
	if from.ProjectKey != "" && from.RepositoryKey != "" && from != to && from.Folded() != to.Folded() {
		e.Facts = append(e.Facts, notify.Fact{Name: "From", Value: payload.Cut(from.ProjectKey + "/" + from.RepositoryKey)})
	}
	return nil
}

// sourceUpdated tells of new commits on the source branch, unless it is where
// it was.
func sourceUpdated(h *hook) ([]notify.Event, error) {
	now := payload.Hash(string(h.pullRequest.fromHash))
	before := payload.Hash(h.previousFromHash)
	if before != "" && before == now {
		return nil, nil
	}
	return one(func(h *hook, e *notify.Event) error {
		if before != "" {
			e.Changes = payload.Changed(nil, "commit", before, now)
		}
		return pullRequestEvent(h, e)
	}, notify.PullRequestRescoped)(h)
}

// pullRequestModified tells which of title, description, draft and target
// differ. The platform sends all four as they were, so they are compared.
func pullRequestModified(h *hook) ([]notify.Event, error) {
	p := &h.pullRequest
	var edited, retargeted []notify.Change
	if h.previousTitle.given {
		edited = payload.Changed(edited, "title", h.previousTitle.is, p.title)
	}
	if h.previousDescription.given {
		edited = payload.Changed(edited, "description", h.previousDescription.is, string(p.description))
	}
	if h.previousDraft.given {
		edited = payload.Changed(edited, "draft", h.previousDraft.is, notify.YesNo(p.draft))
	}
	if before := h.previousTarget.name(); before != "" {
		retargeted = payload.Changed(nil, "target", before, p.to.name())
	}
	if len(edited)+len(retargeted) == 0 && h.previousTitle.given && !h.previousDescription.given {
		// Empty descriptions are left out: it had none, and nothing else tells
		// why the platform sent this.
		edited = payload.Changed(edited, "description", "", string(p.description))
	}

	var types []notify.EventType
	if len(edited) > 0 {
		types = append(types, notify.PullRequestFieldEdited)
	}
	if len(retargeted) > 0 {
		types = append(types, notify.PullRequestTargetChanged)
	}
	e := h.event(types...)
	e.Changes = append(edited, retargeted...)
	if err := pullRequestEvent(h, &e); err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, nil
	}
	return []notify.Event{e}, nil
}

func reviewersUpdated(h *hook) ([]notify.Event, error) {
	return one(func(h *hook, e *notify.Event) error {
		if err := pullRequestEvent(h, e); err != nil {
			return err
		}
		e.PullRequest.Added, e.PullRequest.Removed = h.added, h.removed
		return nil
	}, notify.PullRequestReviewersUpdated)(h)
}

// reviewed is what a reviewer said of a pull request.
func reviewed(h *hook, e *notify.Event) error {
	if e.Actor == (notify.User{}) {
		e.Actor = h.participant.user()
	}
	return pullRequestEvent(h, e)
}

func unapproved(h *hook) ([]notify.Event, error) {
	switch h.previousStatus {
	case "NEEDS_WORK", "CHANGES_REQUESTED":
		return one(reviewed, notify.PullRequestChangesRequestRemoved)(h)
	}
	return one(reviewed, notify.PullRequestUnapproved)(h)
}
