package pages

import (
	"context"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

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

// failingReports says of each report whose last run brought no message, or one
// that the chat refused, why, in the words of who failed it, and leads to its page.
func (p *Pages) failingReports(ctx context.Context) ([]console.Notice, error) {
	failing, err := p.Reports.Failing(ctx)
	if err != nil {
		return nil, err
	}
	var notices []console.Notice
	for i := range failing {
		r := &failing[i]
		why, since := r.LastFailure()
		remedy, what := console.Remedy{Label: "Send it now", Of: r.Name, Path: reportPath(r) + "/test", Posts: []console.Hidden{}}, "sent"
		if r.LastError == "" {
			remedy.Label, remedy.Path, what = "Send again", deliveriesPath+"/"+idText(r.LastDelivery.ID)+"/redeliver", "delivered"
		}
		notices = append(notices, console.Notice{
			Text: "The activity report “" + r.Name + "” of " + r.ProjectKey + "/" + r.RepositoryKey + " was not " + what + ". " + why,
			Kind: "report", Key: reportPath(r), Link: reportPath(r), Tone: console.Bad, Since: since, Remedy: remedy,
		})
	}
	return notices, nil
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
