package bitbucket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// PullRequest is a pull request of a repository. People are named by their user
// names; those without an account are listed by name alone.
type PullRequest struct {
	ID                 int64
	Title, Description string
	Author             string
	Source, Target     string // branch names
	Draft              bool
	State              string // "" is OPEN
	Created, Updated   time.Time
	Reviewers          []Reviewer
}

// Reviewer is who a pull request asks.
type Reviewer struct {
	Name   string
	Status string // APPROVED or NEEDS_WORK; "" is UNAPPROVED
}

// listPullRequests answers those of a state, the last updated first unless
// order says otherwise, to who may read the repository.
func (p *Platform) listPullRequests(a *asking) {
	project, repository := p.repositoryOf(a)
	if repository == nil {
		return
	}
	if a.who != nil {
		if allowed, _ := p.may(a.who, "REPO_READ", project.Key, repository.Slug); !allowed {
			a.fail(http.StatusUnauthorized, "AuthorisationException", "You are not permitted to access this resource")
			return
		}
	}
	q := a.r.URL.Query()
	state := strings.ToUpper(q.Get("state"))
	if state == "" {
		state = "OPEN"
	}
	found := slices.DeleteFunc(slices.Clone(repository.PullRequests), func(r PullRequest) bool {
		return state != "ALL" && state != r.state()
	})
	slices.SortStableFunc(found, func(a, b PullRequest) int {
		if q.Get("order") == "OLDEST" {
			return a.Updated.Compare(b.Updated)
		}
		return b.Updated.Compare(a.Updated)
	})
	all := make([]any, len(found))
	for i := range found {
		all[i] = listed(func() any { return p.pullRequestOut(a, project, repository, &found[i]) })
	}
	page(p, a, all)
}

// listed is a value of a long list, of which a page writes few.
type listed func() any

func (l listed) MarshalJSON() ([]byte, error) { return json.Marshal(l()) }

func (r *PullRequest) state() string {
	if r.State == "" {
		return "OPEN"
	}
	return r.State
}

func (p *Platform) pullRequestOut(a *asking, project *Project, repository *Repository, r *PullRequest) map[string]any {
	reviewers := make([]any, len(r.Reviewers))
	for i, v := range r.Reviewers {
		reviewers[i] = p.participant(v.Name, "REVIEWER", v.Status)
	}
	return map[string]any{
		"id": r.ID, "version": 1, "title": r.Title, "description": r.Description, "state": r.state(),
		"open": r.state() == "OPEN", "closed": r.state() != "OPEN", "draft": r.Draft, "locked": false,
		"createdDate": p.date(r.Created), "updatedDate": p.date(r.Updated),
		"fromRef": refOut(r.Source, project, repository), "toRef": refOut(r.Target, project, repository),
		"author": p.participant(r.Author, "AUTHOR", ""), "reviewers": reviewers, "participants": []any{},
		"links": map[string]any{"self": []any{map[string]any{"href": p.pullRequestURL(a.r, project, repository, r.ID)}}},
	}
}

func refOut(branch string, project *Project, repository *Repository) map[string]any {
	return map[string]any{
		"id": "refs/heads/" + branch, "displayId": branch, "type": "BRANCH", "latestCommit": strings.Repeat("a8c5de1f", 5),
		"repository": repositoryOut(project, repository),
	}
}

func (p *Platform) participant(name, role, status string) map[string]any {
	u := &User{Name: name, DisplayName: name}
	for i := range p.o.Users {
		if strings.EqualFold(p.o.Users[i].Name, name) {
			u = &p.o.Users[i]
		}
	}
	if status == "" {
		status = "UNAPPROVED"
	}
	return map[string]any{"user": userOut(u), "role": role, "approved": status == "APPROVED", "status": status}
}

// pullRequestURL is where the platform's own pages show a pull request: those
// of a personal repository are under the user's name.
func (p *Platform) pullRequestURL(r *http.Request, project *Project, repository *Repository, id int64) string {
	base := p.o.LinksTo
	if base == "" {
		base = "http://" + r.Host
	}
	owner := "/projects/" + project.Key
	if user, personal := strings.CutPrefix(project.Key, "~"); personal {
		owner = "/users/" + strings.ToLower(user)
	}
	return fmt.Sprintf("%s%s/repos/%s/pull-requests/%d", base, owner, repository.Slug, id)
}

// date is a time as this version writes it.
func (p *Platform) date(at time.Time) any {
	if p.o.ISODates {
		return at.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return at.UnixMilli()
}
