package client

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// maxPullRequests is how many open pull requests of a repository are looked at:
// more than any that people still work with.
const maxPullRequests = 10_000

// maxReviewers is how many reviewers of a pull request are kept: ten times as
// many as a report names.
const maxReviewers = 100

// pullRequestFields are the members asked for: without them a list has long
// texts that nothing here reads, and no participants.
const pullRequestFields = "next,values.id,values.title,values.draft,values.created_on,values.updated_on,values.author," +
	"values.destination.branch.name,values.links.html.href,values.reviewers,values.participants"

type pullRequest struct {
	ID          int64
	Title       string
	Draft       bool
	CreatedOn   moment `json:"created_on"`
	UpdatedOn   moment `json:"updated_on"`
	Author      Account
	Destination struct{ Branch struct{ Name string } }
	Links       struct{ HTML struct{ Href string } }
	Reviewers   []Account

	Participants []struct {
		User     Account
		Role     string
		Approved bool
	}
}

// OpenPullRequests lists the open pull requests of a repository, each once, the
// one that was updated last first. More than 10,000 are an error that says so.
func (cl *Client) OpenPullRequests(
	ctx context.Context, c *notify.Connection, token secret.Value, at notify.RepositoryRef,
) ([]notify.OpenPullRequest, error) {
	var all []notify.OpenPullRequest
	known := map[int64]bool{}
	query := url.Values{"state": {"OPEN"}, "sort": {"-updated_on"}, "fields": {pullRequestFields}}
	again := 0 // pull requests in a row that are listed already
	err := list(ctx, cl, c, token, repositoryPath(at)+"/pullrequests", query, func(p *pullRequest) (enough bool, err error) {
		switch {
		case p == nil || p.ID <= 0:
		case known[p.ID]:
			// One that is updated meanwhile moves the others to later pages; as many
			// as a page has are no page of its own.
			if again++; again >= pageSize {
				return true, restclient.Repeating(c.Name)
			}
		case len(all) == maxPullRequests:
			return true, fault.New(fault.Unavailable, "The platform of %s lists more than %d open pull requests in %s/%s, the most that are read.",
				c.Name, maxPullRequests, at.ProjectKey, at.RepositoryKey)
		default:
			again, known[p.ID] = 0, true
			all = append(all, p.open())
		}
		return false, nil
	})
	if err != nil {
		return nil, unreadable(at, err)
	}
	return all, nil
}

func (p *pullRequest) open() notify.OpenPullRequest {
	o := notify.OpenPullRequest{
		ID: p.ID, Title: short(p.Title, notify.MaxText), Author: p.Author.user(), Target: short(p.Destination.Branch.Name, notify.MaxName),
		Draft: p.Draft, Updated: p.UpdatedOn.Time,
	}
	u, err := url.Parse(p.Links.HTML.Href)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(p.Links.HTML.Href) <= notify.MaxText {
		o.URL = u.String()
	}
	if o.Updated.IsZero() {
		o.Updated = p.CreatedOn.Time
	}
	at := map[string]int{} // index in o.Reviewers
	add := func(a Account, approved bool) {
		key := a.key()
		if key == "" {
			return
		}
		i, ok := at[key]
		if !ok && len(o.Reviewers) == maxReviewers {
			return
		}
		if !ok {
			i = len(o.Reviewers)
			at[key] = i
			o.Reviewers = append(o.Reviewers, notify.Reviewer{User: a.user()})
		}
		o.Reviewers[i].Approved = o.Reviewers[i].Approved || approved
	}
	for _, a := range p.Reviewers {
		add(a, false)
	}
	for _, t := range p.Participants {
		if _, asked := at[t.User.key()]; asked || t.Role == "REVIEWER" {
			add(t.User, t.Approved)
		}
	}
	return o
}

// key tells accounts apart; "" for one that is gone.
func (a Account) key() string {
	if a.ID != "" {
		return a.ID
	}
	return a.UUID
}

func (a Account) user() notify.User {
	return notify.User{Name: short(a.key(), notify.MaxName), DisplayName: short(cmp.Or(a.DisplayName, a.Nickname), notify.MaxName)}
}

// short is a copy of the first characters of a text. Without one, the whole text
// would stay in memory.
func short(text string, most int) string {
	text, _ = notify.Cut(text, most)
	return strings.Clone(text)
}

// moment is a time of the API (ISO 8601). What is none is zero.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(b []byte) error {
	if at, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b)); err == nil {
		m.Time = at
	}
	return nil
}
