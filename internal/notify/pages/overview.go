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

// maxOwnTroubled is how many channels the overview names to those who administer a
// part: as many as to the others.
const maxOwnTroubled = 10

// ownOverview is the card of those who administer projects or repositories: what of
// theirs needs attention.
func (p *Pages) ownOverview(ctx context.Context, who *identity.Principal, accounts []console.Notice) ([]console.Card, error) {
	card := console.Card{
		Title: "Notifications", Link: rulesPath, Service: true, Text: "For the projects and repositories that you administer:",
		Links: []console.Link{
			{Label: "Rules", Path: rulesPath}, {Label: "Activity reports", Path: reportsPath}, {Label: "Deliveries", Path: deliveriesPath},
			{Label: "Channels", Path: channelsPath}, {Label: "Events", Path: eventsPath}, {Label: "Connections", Path: connectionPages},
		},
	}
	if p.cloudOnly() {
		card.Link, card.Links[0] = cloudPath, console.Link{Label: "Rules", Path: cloudPath}
	}
	troubled, retrying, err := p.Channels.Troubled(ctx, p.Clock(), maxOwnTroubled)
	if err != nil {
		return nil, err
	}
	card.Pending = p.pending(retrying)
	for i := range troubled {
		n := p.notice(&troubled[i])
		if !troubled[i].ChangeableBy(who) {
			n.Remedy = console.Remedy{}
		}
		card.Attention = append(card.Attention, n)
	}
	card.Attention = append(card.Attention, accounts...)
	failing, err := p.failingReports(ctx)
	card.Attention = append(card.Attention, failing...)
	return []console.Card{card}, err
}

const noMessages = "No messages in the last 24 hours."

// plot draws what became of messages in the last 24 hours.
func (p *Pages) plot(ctx context.Context) (console.Plot, error) {
	from := console.PlotFrom(p.Clock())
	samples, err := p.Deliveries.History(ctx, from, console.PlotStep)
	if err != nil {
		return console.Plot{}, err
	}
	delivered := console.Course{Label: "delivered", Tone: console.Good, Sum: true}
	waiting := console.Course{Label: "waiting", Tone: console.Warn}
	failed := console.Course{Label: "failed", Tone: console.Bad, Sum: true}
	var ended, lost, most int64
	for _, s := range samples {
		ended, lost, most = ended+s.Delivered, lost+s.Failed, max(most, s.Waiting)
		delivered.Points = append(delivered.Points, console.Point{At: s.At, N: s.Delivered})
		waiting.Points = append(waiting.Points, console.Point{At: s.At, N: s.Waiting})
		if s.Failed > 0 { // a line along the ground would look like something that failed
			failed.Points = append(failed.Points, console.Point{At: s.At, N: s.Failed})
		}
	}
	text := fmt.Sprintf("The last 24 hours: %d delivered, %d failed, at most %d waiting at once.", ended, lost, most)
	return console.NewPlot(from, text, noMessages, delivered, waiting, failed), nil
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
