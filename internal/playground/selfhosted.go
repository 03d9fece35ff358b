package playground

import (
	"net/http"
	"strings"
	"time"

	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/samples"
)

// The repository of the self-hosted platform that has open pull requests.
const (
	OpenProject    = "ATL"
	OpenRepository = "card-reader"
)

// NewSelfHosted makes the self-hosted platform of the world: its REST API, as the
// bearer of the token sees it. Of its pull requests some have waited for weeks.
func NewSelfHosted(token string, clock func() time.Time) *bitbucket.Platform {
	o := bitbucket.Options{Token: token, LinksTo: samples.BaseURL, Clock: clock}
	for _, p := range samples.People() {
		o.Users = append(o.Users, bitbucket.User{Name: p.Name, DisplayName: p.DisplayName, Email: p.Name + "@example.com"})
	}
	o.Projects = []bitbucket.Project{{Key: OpenProject, Name: "Atlas", ID: 1, Repositories: []bitbucket.Repository{
		{Slug: "engine", ID: 11}, {Slug: OpenRepository, ID: 12, PullRequests: openPullRequests(clock())}, {Slug: "orbit-tables", ID: 13},
	}}}
	return bitbucket.New(o)
}

// openPullRequests are some that are looked after, some that are not, and
// drafts.
func openPullRequests(now time.Time) []bitbucket.PullRequest {
	ago := func(days int, rest time.Duration) time.Time { return now.AddDate(0, 0, -days).Add(-rest) }
	asks := func(names ...string) (all []bitbucket.Reviewer) {
		for _, name := range names {
			name, status, _ := strings.Cut(name, " ")
			all = append(all, bitbucket.Reviewer{Name: name, Status: status})
		}
		return all
	}
	all := []bitbucket.PullRequest{
		{ID: 64, Title: "Replace the card hopper", Author: "alan", Draft: true, Target: "main", Updated: ago(118, 3*time.Hour),
			Reviewers: asks("grace")},
		{ID: 88, Title: "Carry over all seven wheels at once", Author: "edsger", Target: "release/1.8", Updated: ago(41, 5*time.Hour),
			Reviewers: asks("barbara", "ada APPROVED")},
		{ID: 97, Title: "Say which relay is stuck", Author: "alan", Target: "main", Updated: ago(23, time.Hour),
			Reviewers: asks("grace", "katherine NEEDS_WORK")},
		{ID: 104, Title: "Let the night shift pause a long computation", Author: "katherine", Draft: true,
			Target: "main", Updated: ago(16, 7*time.Hour)},
		{ID: 109, Title: "Round orbit tables half to even", Author: "barbara", Target: "main", Updated: ago(9, 2*time.Hour),
			Reviewers: asks("edsger", "alan", "ada APPROVED")},
		{ID: 111, Title: "Count the cards in each tray", Author: "ada", Target: "main", Updated: ago(2, 4*time.Hour),
			Reviewers: asks("grace APPROVED")},
		{ID: 112, Title: "Read punch cards with folded corners", Author: "grace", Target: "main", Updated: ago(0, 2*time.Hour),
			Reviewers: asks("ada", "alan")},
	}
	for i := range all {
		all[i].Source = "topic"
		all[i].Created = all[i].Updated.AddDate(0, 0, -3)
	}
	return all
}

// selfHostedPages has something in place of the platform's pages, which are not
// played.
func selfHostedPages(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/rest/") {
			api.ServeHTTP(w, r)
			return
		}
		http.Error(w, "This would be a page of the code-hosting platform. The demo plays its REST API and its webhooks only.",
			http.StatusNotFound)
	})
}
