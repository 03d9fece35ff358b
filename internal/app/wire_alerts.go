package app

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/alerts"
	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/message"
	"outrigger/internal/secret"
)

// alertsKey is of the notice that the alerts channel itself fails, of which it is
// not told.
const alertsKey = "alerts"

// maxAlerts is how many notices a message has, more than the overview usually
// shows; further ones are counted.
const maxAlerts = 20

// openAlerts has a chat channel told what needs attention, where one is set.
func (a *App) openAlerts(context.Context) error {
	to := a.cfg.Alerts.WebhookURL
	if to.IsZero() {
		return nil
	}
	if err := a.outgoing.CheckURL(to.Reveal()); err != nil {
		return fault.Wrap(err, fault.Invalid, "alerts.webhook_url: %s", fault.As(err).Message)
	}
	a.alerts = alerts.New(alerts.Options{
		DB: a.db, Leases: a.leases, URL: to, After: time.Duration(a.cfg.Alerts.After),
		Ask: a.needsAttention, Send: a.sendAlert, Clock: a.clock, Log: a.log,
	})
	a.pages.AddOverview(forAdmins(a.overviewAlerts))
	return nil
}

func (a *App) startAlerts(ctx context.Context) error {
	if a.alerts == nil {
		return nil
	}
	return a.whenSending(ctx, func(ctx context.Context) error {
		a.alerts.Start(ctx)
		a.endTogether(a.alerts.Stop)
		return nil
	})
}

// needsAttention is the overview as an administrator of the system sees it, but for
// what only administrators may read: others read the channel too.
func (a *App) needsAttention(ctx context.Context) ([]alerts.Notice, error) {
	found, err := a.attention(ctx)
	var list []alerts.Notice
	for _, n := range found {
		if n.Key != alertsKey {
			if !n.Until.IsZero() {
				n.Text += " That was from " + moment(n.Since) + " to " + moment(n.Until) + "."
			}
			list = append(list, alerts.Notice{Key: n.Key, Text: n.Text, Link: n.Link, Bad: n.Tone == console.Bad})
		}
	}
	return list, err
}

// overviewAlerts says that the alerts channel is told nothing.
func (a *App) overviewAlerts(ctx context.Context) (card console.Card, err error) {
	failure, err := a.alerts.Failure(ctx)
	if err != nil || failure == nil {
		return card, err
	}
	text := "The alerts channel " + secret.MaskURL(a.cfg.Alerts.WebhookURL.Reveal()) + " could not be told what needs attention at " +
		minute(failure.At) + ". " + failure.Reason
	return console.Card{Title: "Alerts", Link: "/", Text: "A chat channel is told what needs attention (alerts.webhook_url).",
		Attention: []console.Notice{{Kind: "alerts", Key: alertsKey, Text: text, Tone: console.Bad, Since: failure.At}}}, nil
}

// sendAlert posts a message to the alerts channel.
func (a *App) sendAlert(ctx context.Context, m alerts.Message) error {
	to := a.cfg.Alerts.WebhookURL
	u, err := url.Parse(to.Reveal())
	if err != nil {
		return fault.New(fault.Invalid, "alerts.webhook_url is not a URL.") // the cause would quote it
	}
	text := message.Card(alertCard(m, a.URL()), notify.Auto.ResolveFormat(u.Hostname()))
	attempt := a.chat.outbox.Post(ctx, to, text)
	switch {
	case attempt.Err != "":
		return fault.New(fault.Unavailable, "%s", strings.TrimSuffix(attempt.Err, ".")+".")
	case attempt.Status < 200 || attempt.Status > 299:
		answer := "The chat platform answered " + strconv.Itoa(attempt.Status) + ". " + attempt.Answer
		return fault.New(fault.Unavailable, "%s", strings.TrimSpace(answer))
	}
	return nil
}

// alertCard is what the channel sees: what needs attention first, then what no
// longer does.
func alertCard(m alerts.Message, base string) card.Card {
	c := card.Card{Kind: card.Good, Title: alertTitle(len(m.Present), len(m.Ended)), Links: []card.Link{{Title: "Overview", URL: base + "/"}}}
	for _, t := range m.Present {
		switch {
		case t.Bad:
			c.Kind = card.Bad
		case c.Kind != card.Bad:
			c.Kind = card.Warning
		}
		c.Items = append(c.Items, card.Item{Title: line(t.Text), URL: base + t.Link, Detail: "since " + minute(t.Since)})
	}
	for _, t := range m.Ended {
		c.Items = append(c.Items, card.Item{Title: "No longer: " + line(t.Text), URL: base + t.Link,
			Detail: minute(t.Since) + " to " + minute(t.GoneAt)})
	}
	if more := len(c.Items) - maxAlerts; more > 0 {
		c.Items, c.MoreItems = c.Items[:maxAlerts], more
	}
	return c
}

// alertTitle says "2 things need attention, 1 no longer does".
func alertTitle(present, ended int) string {
	needs := console.Counted(present, "thing needs attention", "things need attention")
	switch {
	case ended == 0:
		return "Outrigger: " + needs
	case present == 0:
		return "Outrigger: " + console.Counted(ended, "thing no longer needs attention", "things no longer need attention")
	}
	return "Outrigger: " + needs + ", " + console.Counted(ended, "no longer does", "no longer do")
}

// line is a text without line breaks and control characters, as cards want it.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
