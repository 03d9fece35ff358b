package client

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

var shop = notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"}

// withOpen adds so many open pull requests to the repository, the first of which
// was updated last.
func (p *played) withOpen(n int) {
	all := make([]bitbucketcloud.PullRequest, n)
	for i := range all {
		at := p.now.Add(-time.Duration(i) * time.Hour)
		all[i] = bitbucketcloud.PullRequest{
			ID: int64(i + 1), Title: fmt.Sprint("Change ", i+1), Author: "712020:ana", Target: "main", Created: at, Updated: at,
		}
	}
	p.platform.Change(func(o *bitbucketcloud.Options) { o.Repository("acme", "shop").PullRequests = all })
}

func TestOpenPullRequests(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	updated := time.Date(2026, 11, 2, 9, 30, 0, 123456000, time.UTC)
	p.platform.Change(func(o *bitbucketcloud.Options) {
		o.Accounts = append(o.Accounts, bitbucketcloud.Account{ID: "712020:cia", UUID: "{c}", Nickname: "cia"})
		o.Repository("acme", "shop").PullRequests = []bitbucketcloud.PullRequest{
			{ID: 1, Title: "Merged", State: "MERGED", Updated: updated},
			{ID: 2, Title: "Waits", Author: "712020:gone", Target: "release/1", Draft: true, Created: updated},
			{
				ID: 3, Title: "Fresh", Author: "712020:ana", Target: "main", Created: updated, Updated: updated.Add(time.Hour),
				Reviewers: []string{"712020:ben", "712020:cia", "712020:gone"},
				Participants: []bitbucketcloud.Participant{
					{Account: "712020:ben", State: "approved"}, {Account: "712020:cia", State: "changes_requested"}, {Account: "712020:ana"},
				},
			},
		}
	})
	got, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop)
	page := strings.TrimRight(p.c.BaseURL, "/") + "/acme/shop/pull-requests/"
	want := []notify.OpenPullRequest{
		{ID: 3, Title: "Fresh", Author: notify.User{Name: "712020:ana", DisplayName: "Ana"}, Target: "main", Updated: updated.Add(time.Hour), URL: page + "3",
			Reviewers: []notify.Reviewer{{User: notify.User{Name: "712020:ben", DisplayName: "Ben"}, Approved: true}, {User: notify.User{Name: "712020:cia", DisplayName: "cia"}}}},
		{ID: 2, Title: "Waits", Target: "release/1", Draft: true, Updated: updated, URL: page + "2"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// What the platform lists is listed once, and to its end, however it cuts its
// pages, as long as they end.
func TestPagesThatEnd(t *testing.T) {
	for name, c := range map[string]struct {
		open, maxPage int
		fault         playgroundtest.Kind
		asked         int
	}{
		"none":            {0, 0, "", 1},
		"one page":        {50, 0, "", 1},
		"5,000":           {5000, 0, "", 100},
		"smaller pages":   {60, 7, "", 9},
		"each one twice":  {60, 7, playgroundtest.Overlapping, 9},
		"nothing but ids": {60, 0, playgroundtest.Nulling, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{MaxPage: c.maxPage})
			p.withOpen(c.open)
			p.platform.SetFault("/pullrequests", playgroundtest.Fault{Kind: c.fault})
			got, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop)
			if err != nil || len(got) != c.open || p.platform.Asked("/pullrequests") != c.asked {
				t.Fatalf("%d pull requests in %d pages: %v", len(got), p.platform.Asked("/pullrequests"), err)
			}
			for i, r := range got {
				if r.ID != int64(i+1) || (r.Title == "") != (c.fault == playgroundtest.Nulling) {
					t.Fatalf("number %d is %+v", i, r)
				}
			}
		})
	}
}

func TestTooManyOpenPullRequests(t *testing.T) {
	for _, n := range []int{maxPullRequests, maxPullRequests + 1} {
		cl := New(doer(func(r *http.Request) (int, string) {
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			var ids []string
			for id := page*pageSize + 1; id <= min((page+1)*pageSize, n); id++ {
				ids = append(ids, fmt.Sprintf(`{"id":%d}`, id))
			}
			next := ""
			if (page+1)*pageSize < n {
				next = fmt.Sprintf(`,"next":"https://x.example/2.0/repositories/acme/shop/pullrequests?page=%d"`, page+1)
			}
			return 200, `{"values":[` + strings.Join(ids, ",") + `]` + next + `}`
		}), nil)
		all, err := cl.OpenPullRequests(t.Context(), &notify.Connection{Name: "c", BaseURL: "https://x.example"}, secret.New("t0ken"), shop)
		const want = "more than 10000 open pull requests in acme/shop, the most that are read"
		if fits := n == maxPullRequests; fits && (err != nil || len(all) != n) || !fits && (err == nil || all != nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d pull requests: %d, %v", n, len(all), err)
		}
	}
}

// Whatever the platform answers, the list ends, with an error that says what it
// was and what to do.
func TestFaultsOfLists(t *testing.T) {
	for kind, want := range map[playgroundtest.Kind]string{
		playgroundtest.Endless:     "pages that do not end",
		playgroundtest.Inventing:   "pages that do not end",
		playgroundtest.Repeating:   "repeats its pages",
		playgroundtest.Standing:    "repeats its pages",
		playgroundtest.Ragged:      "is not the platform",
		playgroundtest.Elsewhere:   "gives an address outside its API",
		playgroundtest.Refusing:    "401 Unauthorized, Token is invalid, expired, or not supported for this endpoint.",
		playgroundtest.Forbidding:  "403 Forbidden, Your credentials do not have access to this resource. Give the account access to acme/shop on the platform.",
		playgroundtest.Withholding: "403 Forbidden, Your credentials lack one or more required privilege scopes. Give the platform's OAuth consumer the permission pullrequest, and",
		playgroundtest.Throttling:  "429 Too Many Requests, Rate limit for this resource has been exceeded.",
		playgroundtest.Broken:      "500 Internal Server Error, Something went wrong.",
		playgroundtest.Missing:     "404 Not Found, There is no API hosted at this URL. Check that there is a repository acme/shop, and that the account has access to it.",
		playgroundtest.Proxied:     "is not the platform",
		playgroundtest.Garbling:    "is not the platform",
		playgroundtest.Chattering:  "more than 4 MiB",
		playgroundtest.Redirecting: "302 Found. Check the base URL.",
		playgroundtest.Dropping:    "closed the connection without an answer",
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{MaxPage: 2})
			p.withOpen(3)
			p.platform.SetFault("/pullrequests", playgroundtest.Fault{Kind: kind})
			got, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop)
			p.says(t, err, want)
			if got != nil || TokenRefused(err) != (kind == playgroundtest.Refusing) || Withdrawn(err) {
				t.Errorf("%d pull requests, %v", len(got), err)
			}
			if n := p.platform.Asked("/pullrequests"); n > maxPages {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// A token that ends, or a grant that is withdrawn, in the middle of a list.
func TestTheTokenEndsBetweenPages(t *testing.T) {
	for name, withdraw := range map[string]bool{"too old": false, "withdrawn": true} {
		t.Run(name, func(t *testing.T) {
			p := play(t, bitbucketcloud.Options{})
			p.withOpen(120)
			p.platform.After(2, func() {
				if p.platform.Expire(); withdraw {
					p.platform.Withdraw("712020:ana")
				}
			})
			got, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop)
			if got != nil || !TokenRefused(err) || p.platform.Asked("/pullrequests") != 3 {
				t.Fatalf("%d pull requests, %v", len(got), err)
			}
			tokens, err := p.Refresh(t.Context(), p.c, p.refresh)
			if Withdrawn(err) != withdraw {
				t.Fatal(err)
			}
			if got, err = p.OpenPullRequests(t.Context(), p.c, tokens.Access, shop); !withdraw && (err != nil || len(got) != 120) {
				t.Errorf("with a new token: %d, %v", len(got), err)
			}
		})
	}
}

// The pause that the platform asks for is one account's.
func TestThrottled(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	p.withOpen(1)
	for _, c := range []struct {
		header string
		pause  time.Duration
	}{{"30", 30 * time.Second}, {"", time.Minute}} {
		p.platform.SetFault("/pullrequests", playgroundtest.Fault{Kind: playgroundtest.Throttling, RetryAfter: c.header})
		asked := p.platform.Asked("/pullrequests")
		for range 2 { // the second is not asked for
			if _, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop); !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter != c.pause {
				t.Error(err)
			}
		}
		if n := p.platform.Asked("/pullrequests") - asked; n != 1 {
			t.Errorf("asked %d times", n)
		}
		p.platform.SetFault("/pullrequests", playgroundtest.Fault{})
		anas := p.token
		p.authorise(t, "712020:ben")
		if _, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop); err != nil {
			t.Errorf("another account: %v", err)
		}
		p.token, p.now = anas, p.now.Add(c.pause)
		if _, err := p.OpenPullRequests(t.Context(), p.c, p.token, shop); err != nil {
			t.Errorf("after the pause: %v", err)
		}
	}
}

// The token goes to the platform's API and nowhere else.
func TestWhereTheNextPageIs(t *testing.T) {
	for next, follows := range map[string]bool{
		"https://api.bitbucket.org/2.0/repositories/acme/shop/pullrequests?page=2": true,
		"https://API.bitbucket.org/2.0/x?ctx=abc":                                  true,
		"http://api.bitbucket.org/2.0/x?page=2":                                    false,
		"https://api.bitbucket.org.example.net/2.0/x":                              false,
		"https://bitbucket.org/2.0/x":                                              false,
		"https://api.bitbucket.org:8443/2.0/x":                                     false,
		"https://ana:pw@api.bitbucket.org/2.0/x":                                   false,
		"https://api.bitbucket.org/2.0":                                            false,
		"https://api.bitbucket.org/2.0evil/x":                                      false,
		"https://api.bitbucket.org/1.0/x":                                          false,
		"https://api.bitbucket.org/2.0/../1.0/x":                                   false,
		"https://api.bitbucket.org/2.0/%2e%2e/1.0/x":                               false,
		"/2.0/x?page=2":             false,
		"//example.net/2.0/x":       false,
		"https:api.bitbucket.org/x": false,
		"file:///etc/passwd":        false,
		"%":                         false,
	} {
		var asked []string
		cl := New(doer(func(r *http.Request) (int, string) {
			asked = append(asked, r.URL.String())
			if len(asked) > 1 {
				return 200, `{"values":[]}`
			}
			return 200, `{"values":[],"next":"` + next + `"}`
		}), nil)
		c := &notify.Connection{Name: "c", BaseURL: "https://bitbucket.org"}
		_, err := cl.OpenPullRequests(t.Context(), c, secret.New("t0ken"), shop)
		if (err == nil) != follows || follows && (len(asked) != 2 || asked[1] != next) || !follows && len(asked) != 1 {
			t.Errorf("%s: asked %q, %v", next, asked, err)
		}
	}
}

func FuzzOpenPullRequests(f *testing.F) {
	f.Add(`{"values":[{"id":1,"title":"a","author":{"uuid":"{a}"},"updated_on":"2026-11-22T12:00:00+00:00","reviewers":[null,{}],"participants":[{"user":null,"role":"REVIEWER","approved":true}]}]}`)
	f.Add(`{"values":[null,{"id":null,"title":null,"author":null,"destination":null,"links":null,"reviewers":null,"participants":null}],"next":null}`)
	f.Add(`{"values":[{"id":9223372036854775807,"links":{"html":{"href":"javascript:alert(1)"}}}],"next":"https://x.example/2.0/repositories?page=2"}`)
	f.Add(`{"type":"error","error":{"message":"m","fields":{"a":["b"]},"detail":{"required":["r"]}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		asked := 0
		status := 200
		if strings.Contains(body, `"error"`) {
			status = 400 + len(body)%100
		}
		cl := New(doer(func(*http.Request) (int, string) {
			asked++
			return status, body
		}), nil)
		all, err := cl.OpenPullRequests(t.Context(), &notify.Connection{Name: "c", BaseURL: "https://x.example"}, secret.New("t0ken"), shop)
		if asked > maxPages || err != nil && (all != nil || !fault.Is(err, fault.Unavailable)) {
			t.Errorf("asked %d times: %d, %v", asked, len(all), err)
		}
		seen := map[int64]bool{}
		for _, p := range all {
			if p.ID <= 0 || seen[p.ID] || p.URL != "" && !strings.HasPrefix(p.URL, "http") {
				t.Errorf("%+v", p)
			}
			seen[p.ID] = true
		}
	})
}

// What is kept of a pull request is short, whatever the platform says of it.
func TestPullRequestsAreKeptShort(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	reviewers := make([]string, 2000)
	for i := range reviewers {
		reviewers[i] = fmt.Sprintf(`{"account_id":"%d"}`, i)
	}
	cl := New(doer(func(*http.Request) (int, string) {
		return 200, fmt.Sprintf(`{"values":[{"id":1,"title":%q,"author":{"account_id":%[1]q,"display_name":%[1]q},"destination":{"branch":{"name":%[1]q}},
			"links":{"html":{"href":"https://x.example/%[1]s"}},"reviewers":[%[2]s]}]}`, long, strings.Join(reviewers, ","))
	}), nil)
	all, err := cl.OpenPullRequests(t.Context(), &notify.Connection{Name: "c", BaseURL: "https://x.example"}, secret.New("t0ken"), shop)
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	for what, text := range map[string]string{"title": all[0].Title, "author": all[0].Author.Name, "author's name": all[0].Author.DisplayName, "target": all[0].Target, "page": all[0].URL} {
		if len(text) > 2*notify.MaxText {
			t.Errorf("the %s has %d bytes", what, len(text))
		}
	}
	if n := len(all[0].Reviewers); n != maxReviewers {
		t.Errorf("%d reviewers", n)
	}
}

// The addresses of next pages are remembered until the list ends: long ones are
// none of the platform's.
func TestALongNextPage(t *testing.T) {
	c := &notify.Connection{Name: "c", BaseURL: "https://x.example"}
	page := 0
	cl := New(doer(func(*http.Request) (int, string) {
		page++
		return 200, fmt.Sprintf(`{"values":[{"id":%d}],"next":"https://x.example/2.0/r?page=%[1]d&x=%s"}`, page, strings.Repeat("x", maxLink))
	}), nil)
	if _, err := cl.OpenPullRequests(t.Context(), c, secret.New("t0ken"), shop); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "outside its API") || page != 1 {
		t.Errorf("%v after %d pages", err, page)
	}
}
