package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/api"
	"outrigger/internal/notify/authorizations"
	"outrigger/internal/notify/bitbucketcloud"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/bitbucketdc"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/builds"
	"outrigger/internal/notify/choices"
	"outrigger/internal/notify/deciding"
	"outrigger/internal/notify/hook"
	"outrigger/internal/notify/membership"
	"outrigger/internal/notify/outbox"
	"outrigger/internal/notify/pages"
	"outrigger/internal/notify/reports"
	"outrigger/internal/notify/sampling"
	"outrigger/internal/notify/store"
	"outrigger/internal/notify/webhooks"
	"outrigger/internal/secret"
)

// chat is the wing of chat notifications.
type chat struct {
	store       *store.Store
	outbox      *outbox.Outbox
	decider     *deciding.Decider
	memberships notify.Memberships
	builds      *builds.Watch
	webhooks    *webhooks.Watch
	refusals    *hook.Refusals
	cloud       *cloud.Client
	accounts    *authorizations.Service
	reports     *reports.Runner
	samples     *sampling.Sampler
}

// openNotify adds the routes and pages of the wing; nothing is sent yet.
func (a *App) openNotify(ctx context.Context) error {
	if err := a.openRules(ctx); err != nil {
		return err
	}
	store := a.chat.store
	a.chat.refusals = hook.NewRefusals(store, a.log)
	hook.New(hook.Options{
		Store: store, Clock: a.clock, Log: a.log, Metrics: hook.NewMetrics(a.registry), Refusals: a.chat.refusals,
	}).Register(a.router)
	selfHosted := client.New(a.outgoing.Trusted(), a.clock)
	a.usePlatformUsers(selfHosted)
	tests := &admin.TestMessages{Store: store, Write: testMessage}
	services := a.notifyServices(selfHosted, tests)
	(&api.API{Services: services, Clock: a.clock}).Register(a.router)
	found := choices.New(choices.Options{
		Platform: selfHosted, Platforms: store.Platforms, Known: services.Repositories.Administered, Channels: services.Channels.Found,
		Clock: a.clock,
	})
	(&pages.Pages{
		Services: services, Choices: found, Draw: a.drawMessage, Proxy: a.proxyTrouble, Clock: a.clock,
	}).Register(a.pages)
	a.chat.reports = reports.New(reports.Options{
		Store: store, Compose: services.Reports.Compose, Members: a.cluster.Members, Leases: a.leases, Clock: a.clock, Log: a.log,
	})
	a.openOutbox()
	tests.Post = a.chat.outbox.Post
	return nil
}

// openRules opens the store and loads the rules, which webhooks are matched against.
func (a *App) openRules(ctx context.Context) error {
	a.chat.store = store.New(a.db, a.box, a.log)
	a.chat.store.Measure(a.registry)
	a.chat.store.UsePlatforms(connectionsOf(a.cfg.Notify.Connections), map[string]notify.Decoder{
		config.KindBitbucketDC: bitbucketdc.Decode, config.KindBitbucketCloud: bitbucketcloud.Decode,
	})
	if err := a.chat.store.Load(ctx); err != nil {
		return fmt.Errorf("load the rules: %w", err)
	}
	return nil
}

// notifyServices makes what REST and the console offer, with the watches that ask the
// platforms for it.
func (a *App) notifyServices(selfHosted *client.Client, tests *admin.TestMessages) admin.Services {
	store := a.chat.store
	accounts := a.openAuthorizations(store)
	a.chat.memberships = membership.New(membership.Options{Store: store, Ask: selfHosted.Member, Clock: a.clock, Log: a.log})
	a.chat.webhooks = webhooks.New(webhooks.Options{
		Store: store, Platform: selfHosted, Cloud: a.chat.cloud, Use: a.chat.accounts.Use, BaseURL: a.URL(), Local: a.cfg.BaseURL == "",
		Leases: a.leases, Clock: a.clock, Log: a.log,
	})
	rules := &admin.Rules{
		Store: store, CheckURL: a.outgoing.CheckURL, CautionURL: admin.Cautions(a.outgoing.CautionURL), Tests: tests,
		Accounts: a.chat.accounts,
		Saved:    a.chat.webhooks.Wake, // its repository may have no webhook yet, or need none any more
	}
	commits := &admin.Builds{Store: store, Event: bitbucketdc.BuildEvent, Clock: a.clock}
	a.chat.builds = builds.New(builds.Options{
		Store: store, Ask: selfHosted.Builds, Take: commits.Take, Leases: a.leases, Clock: a.clock, Log: a.log,
	})
	events := &admin.Events{Store: store}
	return admin.Services{
		Rules:      rules,
		Trials:     &admin.Trials{Rules: rules, Events: events, Memberships: a.chat.memberships},
		Reports:    a.newReports(store, selfHosted, rules),
		Channels:   &admin.Channels{Store: store, Tests: tests, CheckURL: a.outgoing.CheckURL, Clock: a.clock},
		Events:     events,
		Deliveries: &admin.Deliveries{Store: store},
		Hooks: &admin.Hooks{
			Store: store, Confirmed: a.identity.RequireConfirmed,
			Ask: func(ctx context.Context, c *notify.Connection) (string, error) {
				return ofEdition(c, selfHosted.Version, a.chat.cloud.Version)(ctx, c)
			},
		},
		Webhooks: &admin.Webhooks{
			Store: store, Check: a.chat.webhooks.Check, CheckRepository: a.chat.webhooks.CheckRepository, Clock: a.clock,
		},
		Builds:         commits,
		Repositories:   &admin.Repositories{Store: store},
		ChatAccounts:   &admin.ChatAccounts{Store: store},
		Authorizations: accounts,
	}
}

// openOutbox makes what delivers, and has the store tell it of new deliveries.
func (a *App) openOutbox() {
	store := a.chat.store
	a.chat.outbox = outbox.New(outbox.Options{
		Queue: store, Leases: a.leases, Members: a.cluster.Members, Client: a.outgoing.Webhook(), ByProxy: a.outgoing.ByProxy,
		Message: a.writeMessage, Digest: a.writeDigest,
		Alone: !a.cfg.Cluster.Enabled, Rate: a.cfg.Notify.ChannelRate, Burst: a.cfg.Notify.ChannelBurst, DigestAbove: a.cfg.Notify.DigestAbove,
		Limits: notify.Limits{MaxAge: time.Duration(a.cfg.Notify.MaxAge), MaxWaiting: a.cfg.Notify.MaxWaiting},
		Clock:  a.clock, Random: rand.Float64, Log: a.log, Metrics: a.registry,
	})
	a.chat.decider = deciding.New(deciding.Options{
		Queue: store, Memberships: a.chat.memberships, Holding: a.chat.outbox.Holding, Log: a.log, Metrics: a.registry,
	})
	a.chat.samples = &sampling.Sampler{NodeID: a.nodeID, Store: store, Log: a.log}
	a.share(a.chat.outbox)
	store.OnChange(func(deliveries []*notify.Delivery) {
		a.chat.outbox.Enqueued(deliveries)
		a.chat.decider.Enqueued(deliveries)
	}, a.chat.outbox.Moved)
}

// usePlatformUsers has users of the configured platform sign in here.
func (a *App) usePlatformUsers(platforms *client.Client) {
	name := a.cfg.Identity.Platform
	if connection := connectionsOf(a.cfg.Notify.Connections).Find(name); connection != nil {
		present := func() *notify.Connection { return a.chat.store.Platforms().Connections.Find(name) }
		a.identity.UseDirectory(name, &client.Directory{Client: platforms, Connection: present})
		if connection.OAuthClientID != "" {
			a.usePlatformPages(platforms, connection, present)
		}
	}
}

// proxyTrouble says why channels wait for the outgoing proxy.
func (a *App) proxyTrouble() notify.ProxyTrouble {
	if a.chat.outbox == nil { // a page is asked for before everything is there
		return notify.ProxyTrouble{}
	}
	return a.chat.outbox.ProxyTrouble()
}

// startNotify begins to deliver.
func (a *App) startNotify(ctx context.Context) error {
	a.chat.store.Start(ctx)
	a.steps.addStop("rules", watchLimit, a.chat.store.Stop)
	a.chat.samples.Start(ctx)
	a.steps.addStop("samples of notifications", lastSampleLimit, a.chat.samples.Stop) // counts what was on its way
	a.chat.refusals.Start(ctx)
	a.endTogether(a.chat.refusals.Stop)
	a.chat.builds.Start(ctx)
	a.endTogether(a.chat.builds.Stop)
	a.endTogether(a.chat.accounts.Stop)
	return a.whenSending(ctx, func(ctx context.Context) error {
		if err := a.chat.outbox.Start(ctx); err != nil {
			return fmt.Errorf("start to deliver: %w", err)
		}
		a.endTogether(a.chat.outbox.Stop)
		a.chat.decider.Start(ctx)
		a.endTogether(a.chat.decider.Stop)
		a.chat.reports.Start(ctx)
		a.endTogether(a.chat.reports.Stop)
		// These two write to platforms, which a copy that is tried out must not: a refresh
		// token may be taken only once, and webhooks are created.
		a.chat.accounts.Start(ctx)
		a.chat.webhooks.Start(ctx)
		a.endTogether(a.chat.webhooks.Stop)
		return nil
	})
}

func connectionsOf(configured []config.Connection) notify.Connections {
	var list notify.Connections
	for _, c := range configured {
		connection := notify.Connection{
			Name: c.Name, Kind: c.Kind, BaseURL: c.BaseURL, User: c.User, Token: c.Token, ManageWebhooks: c.Manage, Unsigned: c.Unsigned,
			OAuthClientID: c.ClientID, OAuthClientSecret: c.ClientSecret,
		}
		if !c.WebhookSecret.IsZero() {
			connection.Secrets = []secret.Value{c.WebhookSecret}
		}
		list = append(list, connection)
	}
	return list
}
