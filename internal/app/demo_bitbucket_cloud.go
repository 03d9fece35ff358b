package app

import (
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/secret"
)

// demoCloudConnection is the cloud edition of the platform that the demo plays.
const demoCloudConnection = "cloud"

// CodeCloudURL is the page of the cloud edition of the code-hosting platform; ""
// before Start.
func (d *Demo) CodeCloudURL() string {
	if d.chat == nil {
		return ""
	}
	return d.ChatURL() + "/bitbucket/"
}

// playBitbucketCloud adds the cloud edition of the code-hosting platform, played
// at url, with a connection to it.
func (d *Demo) playBitbucketCloud(url string) {
	key, hidden := secret.Random(12), secret.Random(24)
	ada := bitbucketcloud.Account{ID: "712020:ada", UUID: "{a5b0e1c2-0d7f-4a54-9d3e-2f6c1b8a7e01}", DisplayName: "Ada Lovelace", Nickname: "ada"}
	grace := bitbucketcloud.Account{ID: "712020:grace", UUID: "{b7c2d3e4-1e8a-4b65-8e4f-3a7d2c9b8f02}", DisplayName: "Grace Hopper", Nickname: "grace"}
	now, at := d.clock(), cloudsamples.Engine
	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	d.world.Code = &bitbucketcloud.Page{Platform: bitbucketcloud.New(bitbucketcloud.Options{
		Scheme: "http", Host: strings.TrimPrefix(url, "http://"), RotateRefresh: true, AllowInternal: true, Clock: d.clock,
		Accounts: []bitbucketcloud.Account{ada, grace},
		Repositories: []bitbucketcloud.Repository{{
			Workspace: at.Workspace, Slug: at.Repository, ProjectKey: "ATL", ProjectName: "Atlas",
			Permissions: map[string]string{ada.ID: "admin", grace.ID: "write"},
			PullRequests: []bitbucketcloud.PullRequest{
				{ID: 12, Title: "Carry over all seven wheels at once", Author: grace.ID, Target: "main", Created: days(40), Updated: days(23), Reviewers: []string{ada.ID}},
				{ID: 17, Title: "Read punch cards with folded corners", Author: ada.ID, Target: "main", Created: days(12), Updated: days(8), Reviewers: []string{grace.ID},
					Participants: []bitbucketcloud.Participant{{Account: grace.ID, State: "approved"}}},
				{ID: 21, Title: "Round orbit tables half to even", Author: grace.ID, Target: "release/2", Draft: true, Created: days(2), Updated: days(1)},
			},
		}},
	})}
	d.cfg.Notify.Connections = append(d.cfg.Notify.Connections, config.Connection{
		Name: demoCloudConnection, Kind: config.KindBitbucketCloud, BaseURL: url, WebhookSecret: secret.New(secret.Random(24)),
		ClientID: key, ClientSecret: secret.New(hidden), Manage: true,
	})
}

// openBitbucketCloud has people come back to the console from the cloud
// platform's pages.
func (d *Demo) openBitbucketCloud() {
	c := d.cfg.Notify.Connections[len(d.cfg.Notify.Connections)-1]
	d.world.Code.Console = d.URL()
	d.world.Code.Platform.SetConsumer(bitbucketcloud.Consumer{
		Key: c.ClientID, Secret: c.ClientSecret.Reveal(), Name: "Outrigger", Callback: d.URL() + "/oauth/" + c.Name,
		Scopes: []string{"account", "repository", "pullrequest", "webhook"},
	})
}
