package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/rest"
)

// Demo is the whole product on this machine with the outside world played by
// the playground: a chat platform, a smarthost, a cloud site, the cloud edition of
// the code-hosting platform, and its self-hosted edition and a host application
// behind buttons.
type Demo struct {
	*App
	world  *playground.World
	server *http.Server
	chat   net.Addr
	mail   *demoMail
	code   *bitbucket.Platform // self-hosted
	signOn *demoSignOn

	endDay func() // ends the day that is played
}

// NewDemo makes a demo of settings whose first connection is the platform
// that it plays, and which allow webhooks to this machine.
func NewDemo(cfg *config.Config, o Options) (*Demo, error) {
	o.NewDatabase = true
	a, err := New(cfg, o)
	if err != nil {
		return nil, err
	}
	a.hostName = nameOf(cfg.Listen)
	connection := cfg.Notify.Connections[0]
	style, err := fs.ReadFile(cardhtml.Assets(), cardhtml.StyleSheet)
	if err != nil {
		return nil, fmt.Errorf("read the style sheet of cards: %w", err)
	}
	return &Demo{App: a, world: &playground.World{
		CardStyle: style,
		Chat:      playground.NewChat(a.clock),
		Platform:  &playground.Platform{Secret: connection.WebhookSecret.Reveal(), Clock: a.clock},
	}}, nil
}

// nameOf is localhost where the demo listens on an address of that name: browsers bind
// passkeys to a host name. "" elsewhere.
func nameOf(listen string) string {
	const name = "localhost"
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return ""
	}
	known, err := net.DefaultResolver.LookupHost(context.Background(), name)
	if err != nil || !slices.Contains(known, host) {
		return ""
	}
	return name
}

// ChatURL is the page of the chat platform.
func (d *Demo) ChatURL() string { return "http://" + reachable(d.chat) }

// MailURL is the page of the smarthost.
func (d *Demo) MailURL() string { return d.ChatURL() + "/mail/" }

// CloudURL is the page of the cloud site.
func (d *Demo) CloudURL() string { return d.ChatURL() + "/cloud/" }

// CodeCloudURL is the page of the cloud edition of the code-hosting platform.
func (d *Demo) CodeCloudURL() string { return d.ChatURL() + "/bitbucket/" }

// Start starts the outside world, the product, and puts in some rules, a
// report and some comments of the self-hosted side.
func (d *Demo) Start(ctx context.Context) error {
	l, err := d.listen(ctx)
	if err != nil {
		return err
	}
	d.chat = l.Addr()
	if d.mail, err = newDemoMail(ctx, d.App); err != nil {
		return errors.Join(err, l.Close())
	}
	d.world.Cloud = newDemoCloud(d.App, d.ChatURL())
	d.addPlatform()
	d.playBitbucketCloud(d.ChatURL())
	if err := d.playSignOn(ctx); err != nil {
		d.mail.close()
		return errors.Join(err, l.Close())
	}
	if err := d.App.Start(ctx); err != nil {
		d.mail.close()
		return errors.Join(err, l.Close(), d.signOn.close())
	}
	d.openSignOn()
	d.world.Mail = d.mail.begin(d.App)
	d.world.Console, d.world.Cloud.Console = d.URL(), d.URL()
	d.openBitbucketCloud()
	d.world.Platform.HookURL = d.URL() + notify.HookPath(d.cfg.Notify.Connections[0].Name, "")
	d.sendsEvents(d.world.Platform.HookURL)
	d.server = d.play(l, "chat platform", d.world.Handler())
	if err := errors.Join(d.addRules(ctx), d.addCloudRule(ctx), d.addReport(ctx), d.fillSource(ctx)); err != nil {
		return errors.Join(err, d.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

// dayPause is the time between two events of the day: long enough to read a
// card, short enough for the whole of it to take three minutes.
const dayPause = 5 * time.Second

// PlayDay has a team's day begin, after Start: the played platform posts its
// events, until they are over or Stop.
func (d *Demo) PlayDay() {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	d.endDay = func() { cancel(); <-over }
	day := playground.Day{Platform: d.world.Platform, Chat: d.world.Chat, Pause: dayPause, Log: d.log}
	go func() {
		defer close(over)
		day.Play(ctx)
	}()
}

// Stop ends the product first, so that what is in flight still arrives.
func (d *Demo) Stop(ctx context.Context) error {
	if d.endDay != nil {
		d.endDay()
	}
	err := errors.Join(d.App.Stop(ctx), d.server.Close(), d.signOn.close())
	d.mail.close()
	return err
}

// listen takes the port after the product's for the chat platform, or any
// free one.
func (d *Demo) listen(ctx context.Context) (net.Listener, error) {
	host, port, err := net.SplitHostPort(d.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("read the address to listen on: %w", err)
	}
	next := "0"
	if n, err := strconv.Atoi(port); err == nil && n > 0 {
		next = strconv.Itoa(n + 1)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, next))
	if err != nil {
		l, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("open the chat platform's listener: %w", err)
	}
	return l, nil
}

// play serves a part of the outside world.
func (d *Demo) play(l net.Listener, what string, part http.Handler) *http.Server {
	hosts, _ := rest.NewHosts("http://"+reachable(l.Addr()), nil) // which has a host
	server := rest.Server(hosts.Guard(part), d.log)
	go func() {
		if err := server.Serve(rest.Listen(l, rest.MaxConnections(), d.log)); !errors.Is(err, http.ErrServerClosed) {
			d.fail(fmt.Errorf("the %s's listener ended: %w", what, err))
		}
	}()
	return server
}

// addRules saves a rule of each level, so that the first event has a card.
func (d *Demo) addRules(ctx context.Context) error {
	var pullRequests, refs, tags []notify.EventType
	for _, t := range notify.EventTypes() {
		switch {
		case !slices.Contains(t.Editions(), notify.SelfHosted): // the played platform never sends it
		case t >= notify.PullRequestOpened && t <= notify.PullRequestCommentReopened:
			pullRequests = append(pullRequests, t)
		case t >= notify.TagCreated && t <= notify.TagDeleted:
			tags = append(tags, t)
		case t <= notify.FileEdited:
			refs = append(refs, t)
		}
	}
	connection := d.cfg.Notify.Connections[0].Name
	for _, r := range []struct {
		rule    notify.Rule
		channel string
	}{
		{notify.Rule{Name: "Pull requests of every project", Filter: notify.Filter{EventTypes: pullRequests}}, "reviews"},
		{notify.Rule{Name: "Branches of project ATL", ProjectKey: "ATL", Filter: notify.Filter{EventTypes: refs}}, "pushes"},
		{notify.Rule{Name: "Releases of the card reader", ProjectKey: "ATL", RepositoryKey: "card-reader",
			Filter: notify.Filter{EventTypes: tags, BranchMask: "v?[0-9].*"}}, "releases"},
	} {
		r.rule.Connection, r.rule.Enabled, r.rule.Format, r.rule.ChannelName = connection, true, notify.Auto, r.channel
		url := d.ChatURL() + playground.WebhookPath(r.channel)
		if _, err := d.App.chat.store.SaveRule(ctx, notify.Actor{Name: "demo", Source: "local"}, r.rule, url); err != nil {
			return fmt.Errorf("save the demo's rule %q: %w", r.rule.Name, err)
		}
	}
	return nil
}
