package app

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// Administrators see which projects send their events here, how the webhooks
// fare, and have one created.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	platform := playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Projects: []bitbucket.Project{{Key: "ATL", Name: "Atlas"}, {Key: "SHOP"}}})
	server := httptest.NewServer(platform.Handler())
	defer server.Close()
	cfg := settings(t)
	cfg.BaseURL = "http://outrigger.example.com"
	cfg.Notify.Connections = []config.Connection{
		{Name: "main", Kind: config.KindBitbucketDC, BaseURL: server.URL, Token: secret.New("right"), Manage: true, WebhookSecret: secret.New("hook secret")},
		{Name: "mute", Kind: config.KindBitbucketDC, BaseURL: server.URL},
	}
	a := start(t, cfg)
	at := time.Now().Add(-time.Hour)
	platform.PutWebhook(bitbucket.Webhook{
		Project: "ATL", URL: a.URL() + "/hooks/main", Active: true, Failures: 3, LastFailure: at, LastAnswer: "503 from there",
	})
	if err := a.chat.store.ReplaceProjects(t.Context(), "main", []notify.ListedProject{{Key: "ATL", Name: "Atlas"}, {Key: "SHOP"}}, at); err != nil {
		t.Fatal(err)
	}
	if err := a.chat.store.NoteProjectCheck(t.Context(), "main", notify.ProjectCheck{At: at, Listed: at}); err != nil {
		t.Fatal(err)
	}
	connection := a.chat.store.Platforms().Connections.Find("main")
	if _, err := a.chat.webhooks.Check(t.Context(), connection, notify.ProjectWebhook{Connection: "main", Project: notify.Project{Key: "ATL"}}); err != nil {
		t.Fatal(err)
	}
	page := func(path string, form url.Values, want int, texts ...string) {
		t.Helper()
		status, body := consolePage(t, a, path, form)
		if status != want {
			t.Fatalf("%s: %d, want %d: %s", path, status, want, body)
		}
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("%s does not say %q: %s", path, text, body)
			}
		}
	}
	const webhooks = "/notifications/connections/main/webhooks"
	const covered = "1 of 2 projects send events here; 1 of these webhooks fails; 1 not checked yet."
	page("/notifications/connections", nil, 200, covered)
	page("/notifications/connections/main", nil, 200, covered, webhooks, "creates missing webhooks")
	page("/notifications/rules", nil, 200, "Connection main: "+covered)
	page("/", nil, 200, "A webhook of the platform “main” fails")
	page(webhooks, nil, 200, covered, "Atlas", "failing", "503 from there", "not checked yet", webhooks+"/projects/SHOP")
	page("/notifications/connections/mute/webhooks", nil, 200, "No account for the platform", "in the configuration file")
	page(webhooks+"/projects/SHOP", url.Values{}, 303)
	page(webhooks, nil, 200, "2 of 2 projects send events here")
	if there := platform.Webhooks("SHOP"); len(there) != 1 || there[0].URL != a.URL()+"/hooks/main/shop" || there[0].Secret == "" {
		t.Errorf("%+v", there)
	}
	page(webhooks+"/projects/NONE", url.Values{}, 404)
	page(webhooks+"/check", url.Values{}, 303)

	status, body := get(t, "http://"+a.Addr()+"/rest/mtbs/1.0/configuration/coverage", asAdmin)
	var coverage []struct {
		Connection                 string
		Projects, Sending, Failing int
	}
	if err := json.Unmarshal([]byte(body), &coverage); err != nil || status != 200 || len(coverage) != 1 || coverage[0].Sending != 2 {
		t.Errorf("%d %s", status, body)
	}
	status, body = get(t, "http://"+a.Addr()+"/rest/outrigger/1.0/connections/main/webhooks?limit=1", asAdmin)
	if status != 200 || !strings.Contains(body, `"failing":true`) || !strings.Contains(body, `"next":`) {
		t.Errorf("%d %s", status, body)
	}
}
