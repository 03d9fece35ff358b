package client

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
)

var web = notify.RepositoryRef{ProjectKey: "SHOP", RepositoryKey: "web"}

// withOpen is a platform whose repository SHOP/web has so many open pull
// requests, the first of which was updated last.
func withOpen(n int, o bitbucket.Options) bitbucket.Options {
	r := bitbucket.Repository{Slug: "web"}
	for i := range n {
		at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Add(-time.Duration(i) * time.Hour)
		r.PullRequests = append(r.PullRequests, bitbucket.PullRequest{
			ID: int64(i + 1), Title: fmt.Sprint("Change ", i+1), Author: "ana", Source: "topic", Target: "main", Created: at, Updated: at,
		})
	}
	o.Projects = append(o.Projects, bitbucket.Project{Key: "SHOP", Repositories: []bitbucket.Repository{r}})
	return o
}

func TestOpenPullRequests(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)
	own := bitbucket.Repository{Slug: "dots", PullRequests: []bitbucket.PullRequest{
		{ID: 1, Title: "Old", State: "MERGED", Updated: at},
		{ID: 2, Title: "Fresh", Author: "ana", Target: "main", Updated: at.Add(time.Hour)},
		{ID: 3, Title: "Waits", Author: "bot", Target: "release/1", Draft: true, Updated: at,
			Reviewers: []bitbucket.Reviewer{{Name: "ana", Status: "APPROVED"}, {Name: "bob", Status: "NEEDS_WORK"}, {Name: "eve"}}},
	}}
	for _, iso := range []bool{false, true} {
		t.Run(fmt.Sprint("ISO dates ", iso), func(t *testing.T) {
			p := play(t, bitbucket.Options{
				MaxPage: 1, ISODates: iso, Users: []bitbucket.User{{Name: "ana", DisplayName: "Ana Silva", Email: "ana@example.com"}},
				Projects: []bitbucket.Project{{Key: "~ANA", Repositories: []bitbucket.Repository{own}}},
			})
			got, err := p.OpenPullRequests(t.Context(), p.c, notify.RepositoryRef{ProjectKey: "~ana", RepositoryKey: "dots"})
			if err != nil {
				t.Fatal(err)
			}
			ana := notify.User{Name: "ana", DisplayName: "Ana Silva", Email: "ana@example.com"}
			page := strings.TrimRight(p.c.BaseURL, "/") + "/users/ana/repos/dots/pull-requests/"
			want := []notify.OpenPullRequest{
				{ID: 2, Title: "Fresh", Author: ana, Target: "main", Updated: at.Add(time.Hour), URL: page + "2"},
				{ID: 3, Title: "Waits", Author: notify.User{Name: "bot", DisplayName: "bot"}, Target: "release/1", Draft: true, Updated: at, URL: page + "3",
					Reviewers: []notify.Reviewer{{User: ana, Approved: true}, {User: notify.User{Name: "bob", DisplayName: "bob"}}, {User: notify.User{Name: "eve", DisplayName: "eve"}}}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the platform lists is listed once, and to its end, however it cuts its
// pages, as long as they end.
func TestOpenPullRequestsPages(t *testing.T) {
	for name, c := range map[string]struct {
		open, maxPage int
		fault         playgroundtest.Kind
		asked         int
	}{
		"none":            {0, 1000, "", 1},
		"one page":        {40, 1000, "", 1},
		"5,000":           {5000, 1000, "", 125},
		"smaller pages":   {60, 7, "", 9},
		"each one twice":  {60, 7, playgroundtest.Overlapping, 9},
		"nothing but ids": {60, 1000, playgroundtest.Nulling, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, withOpen(c.open, bitbucket.Options{MaxPage: c.maxPage}))
			p.platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: c.fault})
			got, err := p.OpenPullRequests(t.Context(), p.c, web)
			if err != nil || len(got) != c.open || p.platform.Asked("/pull-requests") != c.asked {
				t.Fatalf("%d pull requests in %d pages: %v", len(got), p.platform.Asked("/pull-requests"), err)
			}
			for i, r := range got {
				if r.ID != int64(i+1) || (r.Title == "") != (c.fault == playgroundtest.Nulling) {
					t.Fatalf("number %d is %+v", i, r)
				}
			}
		})
	}
}

// Long descriptions are no reason for a report not to come.
func TestOpenPullRequestsWithLongDescriptions(t *testing.T) {
	p := play(t, withOpen(0, bitbucket.Options{}))
	var all []bitbucket.PullRequest
	for i := range 2 * pullRequestPage {
		all = append(all, bitbucket.PullRequest{ID: int64(i + 1), Description: strings.Repeat("長", 32768)})
	}
	p.platform.Change(func(o *bitbucket.Options) { o.Project("SHOP").Repository("web").PullRequests = all })
	if got, err := p.OpenPullRequests(t.Context(), p.c, web); err != nil || len(got) != len(all) {
		t.Errorf("%d pull requests: %v", len(got), err)
	}
}

func TestTooManyOpenPullRequestsAtLength(t *testing.T) {
	p := play(t, withOpen(maxPullRequests+1, bitbucket.Options{}))
	_, err := p.OpenPullRequests(t.Context(), p.c, web)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "more than 10000 open pull requests in SHOP/web") {
		t.Error(err)
	}
}

// Whatever the platform answers, the list ends, with an error that says what it
// was and what to do.
func TestOpenPullRequestFaults(t *testing.T) {
	const mayRead = "Give the connection's account the permission to read SHOP/web (REPO_READ) on the platform."
	for kind, want := range map[playgroundtest.Kind]string{
		playgroundtest.Endless:     "pages that do not end",
		playgroundtest.Inventing:   "pages that do not end",
		playgroundtest.Repeating:   "repeats its pages",
		playgroundtest.Standing:    "repeats its pages",
		playgroundtest.Ragged:      "repeats its pages",
		playgroundtest.Refusing:    "401 Unauthorized, Authentication failed. Please check your credentials and try again. Check the user and the token.",
		playgroundtest.Forbidding:  "403 Forbidden, You are not permitted to access this resource. " + mayRead,
		playgroundtest.Withholding: "401 Unauthorized, You are not permitted to access this resource. " + mayRead,
		playgroundtest.Throttling:  "429 Too Many Requests, Rate limit exceeded",
		playgroundtest.Broken:      "500 Internal Server Error, An error occurred",
		playgroundtest.Missing:     "404 Not Found, There is no such resource. Check that there is a repository SHOP/web, and that the connection's account may read it",
		playgroundtest.Proxied:     "is not the platform",
		playgroundtest.Garbling:    "is not the platform",
		playgroundtest.Chattering:  "more than 4 MiB",
		playgroundtest.Redirecting: "302 Found. Check the base URL",
		playgroundtest.Dropping:    "closed the connection without an answer",
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := play(t, withOpen(3, bitbucket.Options{MaxPage: 2}))
			p.platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: kind})
			got, err := p.OpenPullRequests(t.Context(), p.c, web)
			if got != nil || !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, want) {
				t.Errorf("%d pull requests, %v; want %q", len(got), err, want)
			}
			if n := p.platform.Asked("/pull-requests"); n > maxPages {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

func TestOpenPullRequestsAndNoAnswer(t *testing.T) {
	p := play(t, withOpen(1, bitbucket.Options{}))
	p.platform.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Silent})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.OpenPullRequests(ctx, p.c, web); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// The pause that a platform asks for reaches who asks for the list.
func TestOpenPullRequestsThrottled(t *testing.T) {
	p := play(t, withOpen(1, bitbucket.Options{}))
	p.platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: playgroundtest.Throttling, RetryAfter: "30"})
	for range 2 { // the second is not asked for
		if _, err := p.OpenPullRequests(t.Context(), p.c, web); !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter != 30*time.Second {
			t.Error(err)
		}
	}
	if n := p.platform.Asked("/pull-requests"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// It takes an account that may read the repository, and no more.
func TestOpenPullRequestsNeedAReader(t *testing.T) {
	o := withOpen(1, bitbucket.Options{Users: []bitbucket.User{{Name: "bot", Password: "right"}, {Name: "eve", Password: "right"}}})
	o.Projects[0].Repositories[0].Readers = []string{"bot"}
	p := play(t, o)
	p.c.User = "bot"
	if got, err := p.OpenPullRequests(t.Context(), p.c, web); err != nil || len(got) != 1 {
		t.Errorf("%d, %v", len(got), err)
	}
	p.c.User = "eve"
	if _, err := p.OpenPullRequests(t.Context(), p.c, web); err == nil || !strings.Contains(err.Error(), "(REPO_READ)") || !Refused(err) {
		t.Error(err)
	}
	p.c.User = "bot"
	if _, err := p.OpenPullRequests(t.Context(), p.c, notify.RepositoryRef{ProjectKey: "SHOP", RepositoryKey: "gone"}); err == nil ||
		!strings.Contains(err.Error(), "404 Not Found, Repository SHOP/gone does not exist. Check that there is a repository SHOP/gone") {
		t.Error(err)
	}
}
