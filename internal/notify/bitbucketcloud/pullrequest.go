package bitbucketcloud

import (
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

type pullRequest struct {
	id                        int64
	title, description, state string
	draft                     bool
	author                    notify.User
	reviewers                 []notify.User
	source, destination       end
	mergeCommit, reason, link string
	created, updated          time.Time
}

// end is one of the two branches. The repository of a source is null where the
// fork is gone.
type end struct {
	branch, commit string
	repository     repository
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
			p.description = r.Short()
		case "state":
			p.state = r.Text()
		case "draft":
			p.draft = r.Bool()
		case "author":
			p.author = readUsers(r)
		case "reviewers":
			p.reviewers = payload.All(r, readUsers)
		case "source":
			p.source.read(r)
		case "destination":
			p.destination.read(r)
		case "merge_commit":
			p.mergeCommit = readHash(r)
		case "reason":
			p.reason = r.Text()
		case "links":
			p.link = readPage(r)
		case "created_on":
			p.created = r.Time()
		case "updated_on":
			p.updated = r.Time()
		}
	}
}

func (p *end) read(r *payload.Reader) {
	*p = end{}
	for name := range r.Object {
		switch string(name) {
		case "branch":
			p.branch = readProject(r).name
		case "commit":
			p.commit = readHash(r)
		case "repository":
			p.repository.read(r)
		}
	}
}

// review is an approval or a request for changes.
type review struct {
	user notify.User
	at   time.Time
}

func readReview(r *payload.Reader) review {
	var v review
	for name := range r.Object {
		switch string(name) {
		case "user":
			v.user = readUsers(r)
		case "date":
			v.at = r.Time()
		}
	}
	return v
}

// pullRequestEvent is what the events of all pullrequest: keys have.
func pullRequestEvent(h *hook, e *notify.Event) error {
	p := &h.pullRequest
	if p.id <= 0 {
		return notify.NotUnderstood("there is no pullrequest with an id")
	}
	at := &h.repository
	if at.slug == "" {
		at = &p.destination.repository
		h.place(e, at)
	}
	e.URL = h.site.pullRequest(at, p)
	e.Branch = payload.Cut(p.destination.branch)
	e.SourceBranch = payload.Cut(p.source.branch)
	e.Reviewers = p.reviewers
	e.PullRequest = &notify.PullRequest{
		ID:          p.id,
		Title:       payload.Cut(p.title),
		Description: p.description,
		State:       payload.Cut(p.state),
		Draft:       p.draft,
		Author:      p.author,
		Source:      e.SourceBranch,
		Target:      e.Branch,
		URL:         e.URL,
		MergeCommit: p.mergeCommit,

		SourceCommit: p.source.commit,
	}
	e.Update = notify.Touched
	from, to := p.source.repository.fullName(), p.destination.repository.fullName()
	if from != "" && to != "" && from != to {
		e.Facts = append(e.Facts, notify.Fact{Name: "From", Value: payload.Cut(from)})
	}
	return nil
}

func pullRequestCreated(h *hook, e *notify.Event) error {
	e.At = h.pullRequest.created
	if err := pullRequestEvent(h, e); err != nil {
		return err
	}
	e.Update = notify.Opened
	return nil
}

// pullRequestUpdated is what the platform does not say more of: the store tells
// what changed, by what was seen of the pull request before.
func pullRequestUpdated(h *hook, e *notify.Event) error {
	e.At = h.pullRequest.updated
	if err := pullRequestEvent(h, e); err != nil {
		return err
	}
	e.Update = notify.Updated
	return nil
}

func pullRequestPushed(h *hook, e *notify.Event) error {
	if err := pullRequestUpdated(h, e); err != nil {
		return err
	}
	e.Update = notify.Pushed
	return nil
}

// pullRequestClosed is what is merged or declined, the latter perhaps with a
// reason.
func pullRequestClosed(h *hook, e *notify.Event) error {
	e.At = h.pullRequest.updated
	if err := pullRequestEvent(h, e); err != nil {
		return err
	}
	if h.pullRequest.reason != "" && e.Types[0] == notify.PullRequestDeclined {
		e.Facts = append(e.Facts, notify.Fact{Name: "Reason", Value: payload.Cut(h.pullRequest.reason)})
	}
	return nil
}

// reviewGiven is what a reviewer said of a pull request.
func reviewGiven(h *hook, e *notify.Event) error {
	e.At = h.review.at
	return reviewTaken(h, e)
}

// reviewTaken is what a reviewer no longer says. Its time may be that of when they
// did.
func reviewTaken(h *hook, e *notify.Event) error {
	if e.Actor == (notify.User{}) {
		e.Actor = h.review.user
	}
	return pullRequestEvent(h, e)
}
