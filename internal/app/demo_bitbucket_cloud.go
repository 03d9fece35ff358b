package app

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/secret"
)

// demoCloudConnection is the cloud edition of the platform that the demo plays.
const demoCloudConnection = "cloud"

// maxDemoAccounts is more than a demo has.
const maxDemoAccounts = 100

// demoAccount is the account that is authorised from the beginning.
const demoAccount = "712020:ada"

// playBitbucketCloud adds the cloud edition of the code-hosting platform, played
// at url, with a connection to it.
func (d *Demo) playBitbucketCloud(url string) {
	key, hidden := secret.Random(12), secret.Random(24)
	ada := bitbucketcloud.Account{ID: demoAccount, UUID: "{a5b0e1c2-0d7f-4a54-9d3e-2f6c1b8a7e01}", DisplayName: "Ada Lovelace",
		Nickname: "ada"}
	grace := bitbucketcloud.Account{ID: "712020:grace", UUID: "{b7c2d3e4-1e8a-4b65-8e4f-3a7d2c9b8f02}", DisplayName: "Grace Hopper",
		Nickname: "grace"}
	now, at := d.clock(), cloudsamples.Engine
	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	d.world.Code = &bitbucketcloud.Page{Platform: bitbucketcloud.New(bitbucketcloud.Options{
		Site: url, RotateRefresh: true, AllowInternal: true, Clock: d.clock,
		Accounts: []bitbucketcloud.Account{ada, grace},
		Repositories: []bitbucketcloud.Repository{{
			Workspace: at.Workspace, Slug: at.Repository, ProjectKey: "ATL", ProjectName: "Atlas",
			Permissions: map[string]string{ada.ID: "admin", grace.ID: "write"},
			PullRequests: []bitbucketcloud.PullRequest{
				{ID: 12, Title: "Carry over all seven wheels at once", Author: grace.ID, Target: "main", Created: days(40), Updated: days(23),
					Reviewers: []string{ada.ID}},
				{ID: 17, Title: "Read punch cards with folded corners", Author: ada.ID, Target: "main", Created: days(12), Updated: days(8),
					Reviewers:    []string{grace.ID},
					Participants: []bitbucketcloud.Participant{{Account: grace.ID, State: "approved"}}},
				{ID: 21, Title: "Round orbit tables half to even", Author: grace.ID, Target: "release/2", Draft: true, Created: days(2),
					Updated: days(1)},
			},
		}},
	})}
	d.cfg.Notify.Connections = append(d.cfg.Notify.Connections, config.Connection{
		Name: demoCloudConnection, Kind: config.KindBitbucketCloud, BaseURL: url, WebhookSecret: secret.New(secret.Random(24)),
		ClientID: key, ClientSecret: secret.New(hidden),
	})
}

// openBitbucketCloud has people come back to the console from the cloud
// platform's pages.
func (d *Demo) openBitbucketCloud() {
	c := d.cfg.Notify.Connections[len(d.cfg.Notify.Connections)-1]
	d.world.Code.Console, d.world.Code.Withdrawn = d.URL(), d.withdrawn
	d.world.Code.Platform.SetConsumer(bitbucketcloud.Consumer{
		Key: c.ClientID, Secret: c.ClientSecret.Reveal(), Name: "Outrigger", Callback: d.URL() + "/oauth/" + c.Name,
		Scopes: []string{"account", "repository", "pullrequest", "webhook"},
	})
}

// withdrawn has the product call the platform with the authorised accounts, as it
// would some time later: so it finds out at once that one is of no use any more.
func (d *Demo) withdrawn(ctx context.Context, _ string) {
	list, err := d.App.chat.store.ListAuthorizations(ctx, 0, 0, maxDemoAccounts)
	if err != nil {
		d.log.Warn("the accounts of the demo could not be listed", "error", err)
		return
	}
	for _, a := range list {
		if a.Connection != demoCloudConnection || a.State != notify.AuthorizationActive {
			continue
		}
		// An error says that the account is withdrawn, which is what is to be found out.
		_ = d.App.chat.accounts.Use(ctx, a.ID, func(c *notify.Connection, token secret.Value) error {
			_, err := d.App.chat.cloud.User(ctx, c, token)
			return err
		})
	}
}

// addCloudRule has the administrator authorise an account as people do, saves a
// rule of that account, and sets up the webhook on the platform's side.
func (d *Demo) addCloudRule(ctx context.Context) error {
	who, err := d.identity.Basic(ctx, "admin", d.cfg.AdminPassword.Reveal(), "127.0.0.1")
	if err != nil {
		return fmt.Errorf("sign in as the demo's administrator: %w", err)
	}
	ctx = identity.With(ctx, who)
	store, service := d.App.chat.store, d.App.chat.accounts
	accounts := &admin.Authorizations{Store: store, Location: service.Location, Exchange: service.Exchange, BaseURL: d.URL(), Clock: d.clock}
	location, err := accounts.Begin(ctx, demoCloudConnection, "")
	if err != nil {
		return fmt.Errorf("begin to authorise the demo's account: %w", err)
	}
	query, _ := d.world.Code.Platform.Grant(location, demoAccount)
	_, account, err := accounts.Complete(ctx, demoCloudConnection, admin.ReadCallback(query))
	if err != nil {
		return fmt.Errorf("authorise the demo's account: %w", err)
	}
	at, connection := cloudsamples.Engine, d.cfg.Notify.Connections[len(d.cfg.Notify.Connections)-1]
	rule := notify.Rule{
		Name: "Pipelines and pull requests of the engine", Connection: connection.Name, ProjectKey: at.Workspace, RepositoryKey: at.Repository,
		AuthorizationID: account.ID, Enabled: true, Format: notify.Auto, ChannelName: "engine",
		Filter: notify.Filter{ExpectedCommitStatus: notify.StatusBoth, EventTypes: []notify.EventType{
			notify.PipelineFailed, notify.PipelineStopped, notify.PullRequestOpened, notify.PullRequestApproved, notify.PullRequestMerged,
			notify.PullRequestDeclined,
		}},
	}
	webhookURL := d.ChatURL() + playground.WebhookPath(rule.ChannelName)
	if _, err := store.SaveRule(ctx, notify.Actor{Name: "demo", Source: "local"}, rule, webhookURL); err != nil {
		return fmt.Errorf("save the demo's rule %q: %w", rule.Name, err)
	}
	d.world.Code.Platform.SetWebhook(bitbucketcloud.Webhook{
		Workspace: at.Workspace, Slug: at.Repository, Description: "Outrigger", URL: d.URL() + notify.HookPath(connection.Name, ""),
		Active: true, Events: bitbucketcloud.EventKeys(), Secret: connection.WebhookSecret.Reveal(), Created: d.clock(),
	})
	return nil
}
