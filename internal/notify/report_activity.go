package notify

import (
	"cmp"
	"context"
	"slices"
	"time"

	"outrigger/internal/notify/branchmask"
)

// ReportKey is the event key of what a report says: no platform sends it.
const ReportKey = "report"

const (
	// maxIdle is how many inactive pull requests a report names: more are not
	// read in a chat.
	maxIdle = 20
	// maxWaitingFor is how many reviewers of one it names.
	maxWaitingFor = 10
	// maxIdleTitle is how many characters of a title are kept: the platform's own
	// limit.
	maxIdleTitle = 255
)

// Activity is what a report says. It is kept as JSON in its event, so a member
// once named keeps its name.
type Activity struct {
	Report         int64  `json:"report,omitempty"` // its id; 0 for one that is not saved
	Name           string `json:"name,omitempty"`
	InactivityDays int    `json:"inactivityDays"`
	Open           int    `json:"open"`
	Inactive       int    `json:"inactive"`
	// Oldest are the inactive ones that had no update for the longest, at most 20.
	Oldest []IdlePullRequest `json:"oldest,omitempty"`

	SkipsDrafts bool   `json:"skipsDrafts,omitempty"` // drafts are not among the open ones
	Drafts      int    `json:"drafts,omitempty"`      // how many were left out
	TargetMask  string `json:"targetMask,omitempty"`  // only pull requests into such branches were looked at
}

// IdlePullRequest is an inactive pull request.
type IdlePullRequest struct {
	ID       int64  `json:"id"`
	Title    string `json:"title,omitempty"`
	Author   User   `json:"author,omitzero"`
	Target   string `json:"target,omitempty"`
	URL      string `json:"url,omitempty"`
	IdleDays int    `json:"idleDays"`
	// WaitsFor are the reviewers who have not approved, at most 10; WaitsForMore
	// counts the others.
	WaitsFor     []User `json:"waitsFor,omitempty"`
	WaitsForMore int    `json:"waitsForMore,omitempty"`
}

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

// Activity is what the report says at a moment about the pull requests that are
// open then.
func (r *Report) Activity(open []OpenPullRequest, now time.Time) *Activity {
	a := &Activity{Report: r.ID, Name: r.Name, InactivityDays: r.InactivityDays, SkipsDrafts: r.SkipDrafts, TargetMask: r.TargetBranchMask}
	targets := newTargets(r.TargetBranchMask)
	var idle []*OpenPullRequest
	for i := range open {
		p := &open[i]
		switch {
		case !targets.take(p.Target):
		case r.SkipDrafts && p.Draft:
			a.Drafts++
		default:
			a.Open++
			if p.idleDays(now) >= r.InactivityDays {
				idle = append(idle, p)
			}
		}
	}
	slices.SortFunc(idle, func(x, y *OpenPullRequest) int {
		return cmp.Or(x.Updated.Compare(y.Updated), cmp.Compare(x.ID, y.ID))
	})
	a.Inactive = len(idle)
	for _, p := range idle[:min(len(idle), maxIdle)] {
		a.Oldest = append(a.Oldest, p.idle(now))
	}
	return a
}

// day is what idleness is counted in, whatever the clocks do.
const day = 24 * time.Hour

// idleDays are the whole days since the last update; 0 where the platform does
// not say when that was.
func (p *OpenPullRequest) idleDays(now time.Time) int {
	if p.Updated.IsZero() {
		return 0
	}
	return int(now.Sub(p.Updated) / day)
}

func (p *OpenPullRequest) idle(now time.Time) IdlePullRequest {
	out := IdlePullRequest{
		ID: p.ID, Title: Ellipsis(p.Title, maxIdleTitle), Author: p.Author, Target: Ellipsis(p.Target, maxIdleTitle), URL: p.URL,
		IdleDays: p.idleDays(now),
	}
	for _, u := range p.Reviewers {
		switch {
		case u.Approved:
		case len(out.WaitsFor) == maxWaitingFor:
			out.WaitsForMore++
		default:
			out.WaitsFor = append(out.WaitsFor, u.User)
		}
	}
	return out
}

// maxMaskErrors is how many branches a mask may take too many steps on: after
// these it is not run any more, as for rules.
const maxMaskErrors = 3

// maxMaskSteps is what the mask may cost on all branches together, up to two
// seconds: as on 100,000 branches under a sensible mask.
const maxMaskSteps = 60_000_000

// targets tells which target branches a report looks at.
type targets struct {
	mask   *branchmask.Mask // nil: all
	known  map[string]bool
	left   int // steps
	failed int
}

// newTargets takes every branch where the mask is not valid any more: a report
// that says too much is seen, one that says too little is not.
func newTargets(pattern string) *targets {
	t := &targets{known: make(map[string]bool), left: maxMaskSteps}
	if pattern != "" {
		t.mask, _ = branchmask.Java(pattern)
	}
	return t
}

// take reports whether a branch is among them. One that the mask cannot be decided
// for is, for the same reason.
func (t *targets) take(branch string) bool {
	if t.mask == nil || branch == "" || t.failed == maxMaskErrors {
		return true
	}
	takes, ok := t.known[branch]
	if !ok {
		var err error
		if takes, err = t.mask.MatchWithin(branch, &t.left); err != nil {
			takes = true
			t.failed++
		}
		t.known[branch] = takes
	}
	return takes
}

// Event is what a message about the activity is made of.
func (r *Report) Event(a *Activity, page string, now time.Time) *Event {
	return &Event{
		Key: ReportKey, Connection: r.Connection, At: now.UTC(), Report: a, URL: page,
		Project: Project{Key: r.ProjectKey}, Repository: Repository{Key: r.RepositoryKey},
	}
}

// waitsFor are those who are asked to review what the activity names, each once.
func (a *Activity) waitsFor() []User {
	seen := make(map[string]bool)
	var users []User
	for i := range a.Oldest {
		for _, u := range a.Oldest[i].WaitsFor {
			if !seen[Fold(u.Name)] {
				seen[Fold(u.Name)] = true
				users = append(users, u)
			}
		}
	}
	return users
}
