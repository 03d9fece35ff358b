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
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/choices"
	"outrigger/internal/notify/deciding"
	"outrigger/internal/notify/hook"
	"outrigger/internal/notify/membership"
	"outrigger/internal/notify/message"
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
	store := store.New(a.db, a.box, a.log)
	store.Measure(a.registry)
	store.UsePlatforms(connectionsOf(a.cfg.Notify.Connections), map[string]notify.Decoder{
		config.KindBitbucketDC: bitbucketdc.Decode, config.KindBitbucketCloud: bitbucketcloud.Decode,
	})
	if err := store.Load(ctx); err != nil {
		return fmt.Errorf("load the rules: %w", err)
	}
	a.chat.store = store
	tests := &admin.TestMessages{Store: store, Write: testMessage}
	accounts := a.openAuthorizations(store)
	rules := &admin.Rules{Store: store, CheckURL: a.outgoing.CheckURL, CautionURL: admin.Cautions(a.outgoing.CautionURL), Tests: tests, Accounts: a.chat.accounts}
	a.chat.refusals = hook.NewRefusals(store, a.log)
	hook.New(hook.Options{
		Store: store, Clock: a.clock, Log: a.log, Metrics: hook.NewMetrics(a.registry), Refusals: a.chat.refusals,
	}).Register(a.router)
	platforms := client.New(a.outgoing.Trusted(), a.clock)
	a.usePlatformUsers(platforms)
	a.chat.memberships = membership.New(membership.Options{Store: store, Ask: platforms.Member, Clock: a.clock, Log: a.log})
	hooks := &admin.Hooks{Store: store, Ask: versions{platforms, a.chat.cloud}.ask, Confirmed: a.identity.RequireConfirmed}
	builtCommits := &admin.Builds{Store: store, Event: bitbucketdc.BuildEvent, Clock: a.clock}
	a.chat.builds = builds.New(builds.Options{Store: store, Ask: platforms.Builds, Take: builtCommits.Take, Leases: a.leases, Clock: a.clock, Log: a.log})
	a.chat.webhooks = webhooks.New(webhooks.Options{
		Store: store, Platform: platforms, Cloud: a.chat.cloud, Use: a.chat.accounts.Use, BaseURL: a.URL(), Local: a.cfg.BaseURL == "", Leases: a.leases, Clock: a.clock, Log: a.log,
	})
	rules.Saved = a.chat.webhooks.Wake // its repository may have no webhook yet, or need none any more
	projectWebhooks := &admin.Webhooks{Store: store, Check: a.chat.webhooks.Check, CheckRepository: a.chat.webhooks.CheckRepository, Clock: a.clock}
	events, deliveries, channels := &admin.Events{Store: store}, &admin.Deliveries{Store: store}, &admin.Channels{Store: store, Tests: tests, CheckURL: a.outgoing.CheckURL, Clock: a.clock}
	trials := &admin.Trials{Rules: rules, Events: events, Memberships: a.chat.memberships}
	mentions := &admin.ChatAccounts{Store: store}
	activity := a.newReports(store, platforms, rules)
	a.chat.reports = reports.New(reports.Options{
		Store: store, Compose: activity.Compose, Members: a.cluster.Members, Leases: a.leases, Clock: a.clock, Log: a.log,
	})
	(&api.API{Rules: rules, Hooks: hooks, Events: events, Trials: trials, Deliveries: deliveries, Channels: channels, ChatAccounts: mentions, Builds: builtCommits, Webhooks: projectWebhooks, Authorizations: accounts, Reports: activity, Clock: a.clock}).Register(a.router)
	repositories := &admin.Repositories{Store: store}
	found := choices.New(choices.Options{Platform: platforms, Platforms: store.Platforms, Known: repositories.Administered, Channels: channels.Found, Clock: a.clock})
	(&pages.Pages{Rules: rules, Reports: activity, Repositories: repositories, Choices: found, Hooks: hooks, Webhooks: projectWebhooks, Events: events, Trials: trials, Deliveries: deliveries, Channels: channels, ChatAccounts: mentions, Authorizations: accounts, Draw: a.drawMessage, Proxy: a.proxyTrouble, Clock: a.clock}).Register(a.pages)
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
	tests.Post = a.chat.outbox.Post
	store.OnChange(func(deliveries []*notify.Delivery) {
		a.chat.outbox.Enqueued(deliveries)
		a.chat.decider.Enqueued(deliveries)
	}, a.chat.outbox.Moved)
	return nil
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

// proxyTrouble is why channels wait for the outgoing proxy.
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
		a.chat.accounts.Start(ctx) // a platform may take a refresh token once only: a copy that is tried out must not
		a.chat.webhooks.Start(ctx) // it may create webhooks on the platform
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

// writeMessage writes a delivery's message, in its format.
func (a *App) writeMessage(ctx context.Context, d *notify.Delivery) []byte {
	e := d.Noted()
	c := card.New(e)
	sent := d.FinishedAt
	if sent.IsZero() {
		sent = a.clock()
	}
	c.Delayed(e.At, sent)
	c.Mentions = a.mentions(ctx, d)
	return message.Card(c, d.Format)
}

// writeDigest writes one message about as many of the deliveries as have room in it,
// in the format of the first.
func (a *App) writeDigest(ctx context.Context, deliveries []*notify.Delivery) (text []byte, taken int) {
	events := make([]*notify.Event, len(deliveries))
	for i, d := range deliveries {
		events[i] = d.Noted()
	}
	return message.Digest(events, a.mentions(ctx, deliveries...), deliveries[0].Format)
}

// drawMessage is the message of a delivery, or the digest of several, in a format.
func (a *App) drawMessage(ctx context.Context, of []*notify.Delivery, format notify.Format) []byte {
	drawn := make([]*notify.Delivery, 0, len(of))
	for _, d := range of {
		if d.Event != nil {
			as := *d
			as.Format = format
			drawn = append(drawn, &as)
		}
	}
	switch len(drawn) {
	case 0:
		return nil
	case 1:
		return a.writeMessage(ctx, drawn[0])
	}
	text, _ := a.writeDigest(ctx, drawn)
	return text
}

// mentions are those of one message about deliveries: of the events that a rule
// took which mentions reviewers.
func (a *App) mentions(ctx context.Context, deliveries ...*notify.Delivery) (list []card.Mention) {
	rules := a.chat.store.Rules()
	users := make(map[string][]notify.User) // by connection
	for _, d := range deliveries {
		if rules.MentionsReviewers(d.Rules) {
			users[d.Event.Connection] = append(users[d.Event.Connection], d.Event.Mentioned()...)
		}
	}
	accounts := make(map[string]map[string]notify.ChatAccount)
	for connection, of := range users {
		found, err := a.chat.store.ChatAccounts(ctx, connection, of)
		if err != nil { // a message without mentions is better than none
			a.log.Warn("reviewers are not mentioned", "delivery", deliveries[0].ID, "error", err)
		}
		accounts[connection] = found
	}
	for _, d := range deliveries {
		if rules.MentionsReviewers(d.Rules) {
			list = card.AppendMentions(list, d.Event, accounts[d.Event.Connection], d.Format)
		}
	}
	return list
}

// testMessage makes a test message: as a card of the first type, where there is
// one.
func testMessage(types []notify.EventType, f notify.Format) []byte {
	return message.Card(message.Test(types), f)
}
