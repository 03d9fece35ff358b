package notify

import (
	"context"
	"time"
)

// OpenPullRequest is an open pull request as its platform lists it. What the
// platform leaves out is zero.
type OpenPullRequest struct {
	ID        int64
	Title     string
	Author    User
	Target    string // branch display name
	Draft     bool
	Updated   time.Time
	URL       string
	Reviewers []Reviewer
}

// Reviewer is who a pull request asks.
type Reviewer struct {
	User
	Approved bool
}

// PullRequestLister asks platforms for the open pull requests of a repository:
// all their pages, each pull request once. Errors are fault.Unavailable, in the
// platform's own words where it gave some.
type PullRequestLister interface {
	OpenPullRequests(ctx context.Context, c *Connection, at RepositoryRef) ([]OpenPullRequest, error)
}
