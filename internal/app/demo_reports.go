package app

import (
	"context"
	"fmt"

	"outrigger/internal/notify"
	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucket"
)

// selfHostedPath is where the played platform is on the chat platform's address.
const selfHostedPath = "/selfhosted"

// addPlatform plays the REST API of the demo's first connection, for which the
// address must be known and nothing started yet.
func (d *Demo) addPlatform() {
	c := &d.cfg.Notify.Connections[0]
	c.BaseURL = d.ChatURL() + selfHostedPath
	d.code = playground.NewSelfHosted(c.Token.Reveal(), d.clock)
	d.world.SelfHosted = d.code.Handler()
}

// sendsEvents has the played platform know the webhook by which its events come in.
func (d *Demo) sendsEvents(url string) {
	d.code.PutWebhook(bitbucket.Webhook{Project: playground.OpenProject, Name: "Outrigger", URL: url, Active: true,
		Events: bitbucket.EventKeys()})
}

// addReport saves an activity report about pull requests of which some wait.
func (d *Demo) addReport(ctx context.Context) error {
	r := notify.Report{
		Name: "Reviews that wait", Connection: d.cfg.Notify.Connections[0].Name, ProjectKey: playground.OpenProject,
		RepositoryKey: playground.OpenRepository,
		ChannelName:   "reviews", Format: notify.Auto, Enabled: true,
		ReportContent:  notify.ReportContent{InactivityDays: 7},
		ReportSchedule: notify.ReportSchedule{Frequency: notify.WorkingDay, Time: "09:00", TimeZone: "Europe/London"},
	}
	who, webhookURL := notify.Actor{Name: "demo", Source: "local"}, d.ChatURL()+playground.WebhookPath("reviews")
	if _, err := d.App.chat.store.SaveReport(ctx, who, r, webhookURL, d.clock()); err != nil {
		return fmt.Errorf("save the demo's report: %w", err)
	}
	return nil
}
