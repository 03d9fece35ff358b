package bitbucketdc

import (
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// OpenPullRequest reads a pull request of a repository as the platform's REST
// API lists it. What is absent, null or of another shape is zero: one without
// an ID is none.
func OpenPullRequest(body []byte, baseURL string) notify.OpenPullRequest {
	var (
		p                pullRequest
		created, updated time.Time
		reviewers        []notify.Reviewer
	)
	r := payload.New(body)
	defer r.Release()
	for name := range r.Object {
		switch string(name) {
		case "id":
			p.id = r.Int()
		case "title":
			p.title = r.Text()
		case "draft":
			p.draft = r.Bool()
		case "toRef":
			p.readTarget(r)
		case "author":
			p.author = readParticipant(r)
		case "reviewers":
			reviewers = payload.All(r, readListedReviewer)
		case "links":
			p.link = readSelf(r)
		case "createdDate":
			created = r.Time()
		case "updatedDate":
			updated = r.Time()
		}
	}
	if updated.IsZero() {
		updated = created
	}
	return notify.OpenPullRequest{
		ID:        p.id,
		Title:     payload.Cut(p.title),
		Author:    p.author.user(),
		Target:    p.to.name(),
		Draft:     p.draft,
		Updated:   updated,
		URL:       site(strings.TrimRight(baseURL, "/")).pullRequest(&p),
		Reviewers: reviewers,
	}
}

func readListedReviewer(r *payload.Reader) notify.Reviewer {
	var v notify.Reviewer
	for name := range r.Object {
		switch string(name) {
		case "user":
			v.User = readUser(r)
		case "approved":
			v.Approved = v.Approved || r.Bool()
		case "status":
			v.Approved = v.Approved || r.Is("APPROVED")
		}
	}
	return v
}
