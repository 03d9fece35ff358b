package pages

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// overview is the wing's card: the last 24 h, and the channels that need attention.
func (p *Pages) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	accounts, err := p.accountNotices(ctx)
	if err != nil {
		return nil, err
	}
	if !who.May(identity.Admin, identity.Resource{}) {
		if !administersAnything(who) {
			return nil, nil
		}
		return p.ownOverview(ctx, who, accounts)
	}
	sum, err := p.Deliveries.Summary(ctx, p.Clock().Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	n := sum.InTrouble
	card := console.Card{Title: "Notifications", Link: deliveriesPath, Service: true, Figures: []console.Figure{
		{Label: "delivered in 24 h", Value: console.Count(sum.Delivered), Path: deliveriesPath + "?state=delivered"},
		{Label: "waiting", Value: counted(sum.Waiting, notify.MaxCounted), Path: deliveriesPath + "?state=waiting"},
		{Label: "failed in 24 h", Value: counted(sum.Failed, notify.MaxCounted), Tone: badIf(sum.Failed > 0),
			Path: deliveriesPath + "?state=failed"},
		{Label: "channels in trouble", Value: strconv.Itoa(n), Tone: badIf(n > 0), Path: channelsPath},
	}, Pending: p.pending(sum.Retrying)}
	if card.Plot, err = p.plot(ctx); err != nil {
		return nil, err
	}
	if card.Steps, err = p.firstSteps(ctx, who, &sum); err != nil {
		return nil, err
	}
	if card.Attention, err = p.attention(ctx, &sum, accounts); err != nil {
		return nil, err
	}
	return []console.Card{card}, nil
}

// attention is what needs it, in the order in which it is shown; accounts are the
// notices about accounts of cloud platforms.
func (p *Pages) attention(ctx context.Context, sum *notify.Summary, accounts []console.Notice) (list []console.Notice, err error) {
	if trouble := p.proxyTrouble(ctx); trouble != "" {
		list = append(list, console.Notice{Kind: "proxy", Key: proxyPath, Text: trouble, Link: proxyPath, Tone: console.Bad,
			Since: p.Proxy().Since, Remedy: console.Remedy{Label: "Open the settings", Path: proxyPath}})
	}
	for i := range sum.Troubled {
		list = append(list, p.notice(&sum.Troubled[i]))
	}
	if more := sum.InTrouble - len(sum.Troubled); more > 0 {
		list = append(list, console.Notice{Kind: "channel", Key: channelsPath, Link: channelsPath,
			Text:  console.Counted(more, "more channel needs attention.", "more channels need attention."),
			Since: sum.OthersSince, Remedy: console.Remedy{Label: "Show the channels", Path: channelsPath}})
	}
	if sum.NotUnderstood > 0 {
		list = append(list, console.Notice{
			Kind: "not_understood", Key: "not understood", Tone: console.Warn, Since: sum.NotUnderstoodAt,
			Text: console.Counted(sum.NotUnderstood, "webhook of the last 24 h was not understood; it is kept with its body.",
				"webhooks of the last 24 h were not understood; they are kept with their bodies."),
			Link:   eventsPath + console.Query("outcome", string(notify.EventNotUnderstood)),
			Remedy: console.Remedy{Label: "Show the webhooks", Path: eventsPath + console.Query("outcome", string(notify.EventNotUnderstood))},
		})
	}
	refused, err := p.refusedNotices(ctx)
	if err != nil {
		return nil, err
	}
	list = append(list, refused...)
	list = append(list, accounts...)
	failing, err := p.failingReports(ctx)
	if err != nil {
		return nil, err
	}
	list = append(list, failing...)
	covered, err := p.coverage(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range covered {
		list = append(list, c.notices()...)
	}
	return list, nil
}

// counted is a number that was counted up to most.
func counted(n, most int) string {
	if n < most {
		return console.Count(n)
	}
	return console.Count(n) + " or more"
}

// firstSteps are the way to the first message, until an event has come and
// there is a rule for it.
func (p *Pages) firstSteps(ctx context.Context, who *identity.Principal, sum *notify.Summary) ([]console.Step, error) {
	if sum.AnyRule && sum.AnyEvent {
		return nil, nil
	}
	steps := []console.Step{
		{Text: "Connect your code-hosting platform"},
		{Text: "Add a rule that sends events to a chat channel. You can send a test message from its form", Link: p.firstRule(),
			Done: sum.AnyRule},
		{Text: "Enter the webhook URL and the secret on the platform, and push a commit. Its event appears here", Link: eventsPath,
			Done: sum.AnyEvent},
	}
	if who.May(identity.SysAdmin, identity.Resource{}) {
		connections, err := p.Hooks.Connections(ctx)
		if err != nil {
			return nil, err
		}
		steps[0].Link, steps[0].Done = newConnectionPage, len(connections) > 0
		if len(connections) > 0 {
			steps[2].Link, steps[2].Copy = connectionPage(connections[0].Name), rest.Link(ctx, notify.HookPath(connections[0].Name, ""))
		}
	}
	return steps, nil
}

// firstRule is where the first rule is made: in the cloud edition, rules belong to
// a repository.
func (p *Pages) firstRule() string {
	if p.cloudOnly() {
		return cloudPath
	}
	return rulesPath + "/new"
}

// cloudOnly reports whether all platforms are of the cloud edition.
func (p *Pages) cloudOnly() bool {
	return len(p.Rules.Connections(notify.Cloud)) > 0 && len(p.Rules.Connections(notify.SelfHosted)) == 0
}

// notice says what is wrong with a channel and since when, and leads to its page.
func (p *Pages) notice(c *notify.ChannelInfo) console.Notice {
	s := c.Status(p.Clock())
	what, tone := "does not accept messages", console.Warn
	switch s.State {
	case "broken":
		what, tone = "is broken", console.Bad
	case "unreachable":
		what, tone = "has been unreachable for more than a day", console.Bad
	}
	text := "The channel “" + c.Name() + "” " + what + ", " + messagesWait(c.Waiting) + "."
	if s.Reason != "" {
		text += " " + s.Reason
	}
	n := console.Notice{Kind: "channel", Key: channelPath(c), Text: text, Link: channelPath(c), Tone: tone, Since: s.Since}
	switch {
	case needsURL(s):
		n.Remedy = console.Remedy{Label: "Replace the webhook URL", Of: c.Name(), Path: channelPath(c) + "/replace"}
	case c.Waiting > 0:
		n.Remedy = console.Remedy{Label: "Try again", Of: c.Name(), Path: channelPath(c) + "#retry"} // which asks what to send
	}
	return n
}

// pending says what waits for the next try of channels.
func (p *Pages) pending(r notify.Retrying) console.Link {
	if r.Channels == 0 {
		return console.Link{}
	}
	channels := counted(r.Channels, notify.MaxListed) + " channels"
	if r.Channels == 1 {
		channels = "1 channel"
	}
	return console.Link{Label: messagesWait(r.Messages) + " for " + channels + ": the next try is " + soon(r.Next.Sub(p.Clock())) + ".",
		Path: channelsPath}
}

// soon says in how long something is, up to a few minutes. Seconds go by fives, so that
// it does not change all the time.
func soon(d time.Duration) string {
	const step = 5 * time.Second
	switch {
	case d <= 0:
		return "now"
	case d <= time.Minute:
		return fmt.Sprintf("in %d s", (d+step-1)/step*step/time.Second)
	}
	return fmt.Sprintf("in %d min", (d+time.Minute-1)/time.Minute)
}

// proxyPath is where the outgoing proxy is set.
const proxyPath = "/notifications/settings"

// proxyTrouble says why channels wait for the outgoing proxy; "" where they do
// not.
func (p *Pages) proxyTrouble(ctx context.Context) string {
	if p.Proxy == nil {
		return ""
	}
	return p.Proxy().SentenceFor(ctx)
}

// triedNow is what people hear who have a channel tried at once.
func (p *Pages) triedNow(ctx context.Context, done string) (flash string, tone console.Tone) {
	if trouble := p.proxyTrouble(ctx); trouble != "" {
		return done + " " + trouble, console.Warn
	}
	return done, ""
}

func messagesWait(n int) string {
	if n == 1 {
		return "1 message waits"
	}
	return counted(n, notify.MaxListed) + " messages wait"
}

func badIf(on bool) console.Tone {
	if on {
		return console.Bad
	}
	return ""
}
