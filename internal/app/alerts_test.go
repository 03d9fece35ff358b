package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/secret"
)

// awaitPost waits for a message to a chat that says all texts.
func awaitPost(t *testing.T, c *chatPlatform, texts ...string) string {
	t.Helper()
	var seen []string
	limit, again := time.After(patience), time.NewTicker(20*time.Millisecond)
	defer again.Stop()
	for {
		for _, post := range c.taken() {
			if said := saying(post, texts); said {
				return post
			}
			seen = append(seen, post)
		}
		select {
		case <-limit:
			t.Fatalf("no message says %q, but %q", texts, seen)
		case <-again.C:
		}
	}
}

func saying(post string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(post, text) {
			return false
		}
	}
	return true
}

func alerting(t *testing.T, chat *chatPlatform) *config.Config {
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	cfg.Alerts.WebhookURL, cfg.Alerts.After = secret.New(chat.webhook("alerts-signature")), 0
	return cfg
}

// notUnderstood leaves an event that needs attention.
func notUnderstood(t *testing.T, a *App) {
	t.Helper()
	hooked(t, a, "repo:refs_changed", `{"eventKey":"repo:refs_changed","odd":true}`)
}

// A channel is told what needs attention, and after a restart when it no longer
// does, with a link to where.
func TestAlerts(t *testing.T) {
	t.Parallel()
	chat := newChatPlatform(t)
	cfg := alerting(t, chat)
	a := newApp(t, cfg, Options{NewDatabase: true})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	notUnderstood(t, a)
	awaitPost(t, chat, "1 thing needs attention", "1 webhook of the last 24 h was not understood", "since ",
		a.URL()+"/notifications/events?outcome=not_understood")
	if err := a.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}

	a = start(t, cfg)
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `DELETE FROM notify_events`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	post := awaitPost(t, chat, "1 thing no longer needs attention", "No longer: 1 webhook of the last 24 h was not understood")
	if strings.Contains(post, "alerts-signature") {
		t.Errorf("the message has the channel's secret: %s", post)
	}
}

// That the alerts channel fails is on the overview, masked, and is told to no
// channel; it is gone when a message goes through.
func TestAlertsThatFail(t *testing.T) {
	t.Parallel()
	chat := newChatPlatform(t)
	chat.answers(http.StatusNotFound, "no such flow")
	cfg := alerting(t, chat)
	a := start(t, cfg)
	notUnderstood(t, a)
	awaitPost(t, chat, "1 thing needs attention")
	awaitOverview(t, a, "The alerts channel", "could not be told", "answered 404", "no such flow")
	chat.answers(http.StatusAccepted, "")
	// The next try is after 30 s.
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE alerts_failure SET next_at = 0`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if post := awaitPost(t, chat, "1 thing needs attention"); strings.Contains(post, "alerts channel") {
		t.Errorf("the channel is told of itself: %s", post)
	}
	awaitOverview(t, a, "!The alerts channel")
}

// awaitOverview waits until the overview says all texts, or with ! in front does
// not.
func awaitOverview(t *testing.T, a *App, texts ...string) {
	t.Helper()
	limit, again := time.After(patience), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		_, body := consolePage(t, a, "/", nil)
		if strings.Contains(body, "alerts-signature") {
			t.Fatalf("the overview shows the channel's secret: %s", body)
		}
		all := true
		for _, text := range texts {
			wanted, is := strings.CutPrefix(text, "!")
			all = all && strings.Contains(body, wanted) != is
		}
		if all {
			return
		}
		select {
		case <-limit:
			t.Fatalf("the overview does not say %q: %s", texts, body)
		case <-again.C:
		}
	}
}

// A channel where no request may go is refused at the start, without the URL.
func TestAlertsGoWhereRulesMay(t *testing.T) {
	cfg := settings(t)
	cfg.Alerts.WebhookURL = secret.New("https://10.0.0.1/invoke?sig=alerts-signature")
	a := newApp(t, cfg, Options{})
	err := a.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "alerts.webhook_url: ") || strings.Contains(err.Error(), "signature") {
		t.Errorf("the start: %v", err)
	}
}

func TestTitlesOfAlerts(t *testing.T) {
	for want, n := range map[string][2]int{
		"Outrigger: 1 thing needs attention":                   {1, 0},
		"Outrigger: 2 things need attention":                   {2, 0},
		"Outrigger: 1 thing no longer needs attention":         {0, 1},
		"Outrigger: 3 things no longer need attention":         {0, 3},
		"Outrigger: 1 thing needs attention, 1 no longer does": {1, 1},
		"Outrigger: 2 things need attention, 2 no longer do":   {2, 2},
	} {
		if got := alertTitle(n[0], n[1]); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
