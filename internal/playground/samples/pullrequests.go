package samples

import (
	"fmt"
	"time"
)

func (t *teller) pullRequest() *pullRequest {
	name, title, description := t.topic()
	in := t.repository()
	from, to := branch(name), branch("main")
	from.LatestCommit, from.Repository = t.hash("third"), in
	to.LatestCommit, to.Repository = t.hash("base"), in
	reviewer := func(u *user) participant { return participant{User: *u, Role: "REVIEWER", Status: "UNAPPROVED"} }
	return &pullRequest{
		ID:          t.number(),
		Version:     2,
		Title:       title,
		Description: description,
		State:       "OPEN",
		Open:        true,
		CreatedDate: t.ago(26 * time.Hour),
		UpdatedDate: t.ago(0),
		FromRef:     from,
		ToRef:       to,
		Author:      participant{User: *t.author(), Role: "AUTHOR", Status: "UNAPPROVED"},
		Reviewers:   []participant{reviewer(t.reviewer()), reviewer(t.other()), reviewer(t.person(3))},
		Participants: []participant{{User: *t.person(4), Role: "PARTICIPANT", Status: "UNAPPROVED"}, {User: *t.person(5), Role: "PARTICIPANT",
			Status: "UNAPPROVED"}},
		Links: self(fmt.Sprintf("/projects/%s/repos/%s/pull-requests/%d", in.Project.Key, in.Slug, t.number())),
	}
}

func (t *teller) about(by *user) webhook { return webhook{Actor: by, PullRequest: t.pullRequest()} }

func (t *teller) pullRequestOnly() webhook { return t.about(t.author()) }

func (t *teller) reviewersChanged() webhook {
	w := t.about(t.author())
	w.AddedReviewers = []user{*t.person(3)}
	w.RemovedReviewers = []user{*t.person(4)}
	return w
}

// review is a reviewer's changed mind about a pull request.
func (t *teller) review(before, now string) webhook {
	w := t.about(t.reviewer())
	p := &w.PullRequest.Reviewers[0]
	p.LastReviewedCommit = t.hash("third")
	p.Status = now
	p.Approved = now == "APPROVED"
	w.Participant = p
	w.PreviousStatus = before
	return w
}

func (t *teller) needsWork() webhook        { return t.review("UNAPPROVED", "NEEDS_WORK") }
func (t *teller) needsWorkRemoved() webhook { return t.review("NEEDS_WORK", "UNAPPROVED") }
func (t *teller) approved() webhook         { return t.review("UNAPPROVED", "APPROVED") }
func (t *teller) unapproved() webhook       { return t.review("APPROVED", "UNAPPROVED") }

func (t *teller) rescoped() webhook {
	w := t.about(t.author())
	w.PreviousFromHash = t.hash("second")
	return w
}

func (t *teller) edited() webhook {
	w := t.about(t.author())
	draft := true
	w.PreviousTitle = "WIP " + w.PullRequest.Title
	w.PreviousDescription = w.PullRequest.Description
	w.PreviousDraft = &draft
	target := branch("main")
	w.PreviousTarget = &target
	return w
}

func (t *teller) retargeted() webhook {
	w := t.about(t.author())
	w.PreviousTitle = w.PullRequest.Title
	w.PreviousDescription = w.PullRequest.Description
	target := branch("release/2.1")
	target.LatestCommit = t.hash("release")
	w.PreviousTarget = &target
	return w
}

func (t *teller) closed(state string, by *user) webhook {
	w := t.about(by)
	p := w.PullRequest
	p.State, p.Open, p.Closed = state, false, true
	now := t.ago(0)
	p.ClosedDate = &now
	return w
}

func (t *teller) merged() webhook {
	w := t.closed("MERGED", t.reviewer())
	merge := refTo(t.hash("merge"))
	w.PullRequest.Properties = &properties{MergeCommit: &merge}
	return w
}

func (t *teller) declined() webhook { return t.closed("DECLINED", t.other()) }
