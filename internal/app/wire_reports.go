package app

import (
	"context"
	"net/url"
	"os"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/message"
	"outrigger/internal/notify/store"
)

// newReports are the activity reports; nothing is asked and nothing is sent yet.
func (a *App) newReports(store *store.Store, selfHosted *client.Client, rules *admin.Rules) *admin.Reports {
	return &admin.Reports{
		Store: store, Lister: listers{selfHosted, a.chat.accounts},
		CheckRepository: func(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) error {
			return ofEdition(c, selfHosted.CheckRepository, a.chat.accounts.CheckRepository)(ctx, c, at)
		},
		PullRequests: pullRequestsPage, CheckURL: a.outgoing.CheckURL, CautionURL: rules.CautionURL, Tests: rules.Tests, Write: testReport,
		Zone: serverZone(), Clock: a.clock,
	}
}

// testReport makes the message of a report that is tried out.
func testReport(e *notify.Event, f notify.Format) []byte {
	c := card.New(e)
	c.Title = "Test: " + c.Title
	return message.Card(c, f)
}

// listers ask platforms for pull requests, each edition in its own way.
type listers struct{ selfHosted, cloud notify.PullRequestLister }

func (l listers) OpenPullRequests(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	return ofEdition(c, l.selfHosted, l.cloud).OpenPullRequests(ctx, c, at)
}

// ofEdition returns what asks the platform of a connection, by its edition.
func ofEdition[T any](c *notify.Connection, selfHosted, cloud T) T {
	if c.Edition() == notify.Cloud {
		return cloud
	}
	return selfHosted
}

// pullRequestsPage is where a platform lists a repository's open pull requests.
func pullRequestsPage(c *notify.Connection, at notify.RepositoryRef) string {
	base, project, repository := strings.TrimRight(c.BaseURL, "/"), url.PathEscape(at.ProjectKey), url.PathEscape(at.RepositoryKey)
	if c.Edition() == notify.Cloud {
		return base + "/" + project + "/" + repository + "/pull-requests/"
	}
	return base + "/projects/" + project + "/repos/" + repository + "/pull-requests"
}

// serverZone is the IANA name of this machine's time zone: of the environment's
// TZ, which may name a file of the zone database or a link into it, else of what /etc/localtime leads to; UTC where neither names one.
func serverZone() string {
	name, set := os.LookupEnv("TZ")
	if !set {
		name = "/etc/localtime"
	}
	if name = strings.TrimPrefix(name, ":"); strings.HasPrefix(name, "/") {
		name = zoneOfFile(name)
	}
	if !notify.IsTimeZone(name) {
		return "UTC"
	}
	return name
}

// zoneOfFile is the name of a file of the zone database; "" for another file.
func zoneOfFile(file string) string {
	if target, err := os.Readlink(file); err == nil {
		file = target
	}
	_, name, _ := strings.Cut(file, "/zoneinfo/")
	return strings.TrimPrefix(name, "posix/")
}
