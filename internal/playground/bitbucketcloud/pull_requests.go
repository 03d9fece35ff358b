package bitbucketcloud

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// PullRequest is a pull request of a repository. People are named by their
// account ids.
type PullRequest struct {
	ID               int64
	Title            string
	Author           string
	Target           string // a branch name
	Draft            bool
	State            string // "" is OPEN
	Created, Updated time.Time
	Reviewers        []string // who are asked
	Participants     []Participant
}

// Participant is an account that takes part in a pull request, asked or not.
type Participant struct {
	Account string
	State   string // approved or changes_requested; "": neither
}

func (r *PullRequest) state() string { return cmp.Or(r.State, "OPEN") }

// listPullRequests answers those of the states asked for, else the open ones.
func (p *Platform) listPullRequests(a *asking) {
	repository := p.repositoryOf(a)
	if repository == nil {
		return
	}
	query := a.r.URL.Query()
	states := query["state"]
	if len(states) == 0 {
		states = []string{"OPEN"}
	}
	found := slices.DeleteFunc(slices.Clone(repository.PullRequests), func(r PullRequest) bool { return !slices.Contains(states, r.state()) })
	slices.SortStableFunc(found, func(a, b PullRequest) int {
		switch query.Get("sort") {
		case "updated_on":
			return a.Updated.Compare(b.Updated)
		case "-updated_on":
			return b.Updated.Compare(a.Updated)
		}
		return cmp.Compare(b.ID, a.ID)
	})
	values := make([]any, len(found))
	for i := range found {
		values[i] = func() any {
			out := p.pullRequestOut(a.r, repository, &found[i])
			for _, name := range []string{"reviewers", "participants"} {
				if !strings.Contains(query.Get("fields"), "values."+name) {
					delete(out, name) // lists leave them out unless asked
				}
			}
			return out
		}
	}
	p.page(a, values)
}

func (p *Platform) pullRequestOut(r *http.Request, repository *Repository, pr *PullRequest) map[string]any {
	reviewers, participants := []any{}, []any{}
	for _, id := range pr.Reviewers {
		reviewers = append(reviewers, accountOut(p.o.account(id)))
	}
	role := func(id string) string {
		if slices.Contains(pr.Reviewers, id) {
			return "REVIEWER"
		}
		return "PARTICIPANT"
	}
	for _, t := range pr.Participants {
		out := map[string]any{
			"type": "participant", "user": accountOut(p.o.account(t.Account)), "role": role(t.Account), "approved": t.State == "approved",
			"state": nil,
		}
		if t.State != "" {
			out["state"] = t.State
		}
		participants = append(participants, out)
	}
	return map[string]any{
		"type": "pullrequest", "id": pr.ID, "title": pr.Title, "description": "", "state": pr.state(), "draft": pr.Draft,
		"author": accountOut(p.o.account(pr.Author)), "reviewers": reviewers, "participants": participants,
		"source":      end(repository, ""),
		"destination": end(repository, pr.Target),
		"created_on":  iso(pr.Created), "updated_on": iso(pr.Updated), "comment_count": 0, "task_count": 0,
		"links": map[string]any{"html": map[string]any{"href": p.site(r) + fmt.Sprintf("/%s/pull-requests/%d", repository.fullName(), pr.ID)}},
	}
}

func end(r *Repository, branch string) map[string]any {
	return map[string]any{
		"branch": map[string]any{"name": branch}, "commit": map[string]any{"type": "commit", "hash": "a8c5de1f8f8a"},
		"repository": map[string]any{"type": "repository", "full_name": r.fullName(), "name": r.Slug},
	}
}

// iso is a time as the API writes it; null for none.
func iso(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000-07:00")
}
