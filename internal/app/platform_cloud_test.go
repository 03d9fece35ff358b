package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/secret"
)

// A connection to the cloud platform is tested by that platform's own API, with
// the OAuth client, and takes the webhooks that the platform sends.
func TestCloudConnection(t *testing.T) {
	platform := bitbucketcloud.New(bitbucketcloud.Options{
		Consumers: []bitbucketcloud.Consumer{{Key: "key", Secret: "right", Callback: "http://127.0.0.1/oauth/cloud"}},
	})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	cfg := settings(t)
	connection := config.Connection{
		Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: server.URL, WebhookSecret: secret.New("hook secret"),
		ClientID: "key", ClientSecret: secret.New("right"),
	}
	mistyped := connection
	mistyped.Name, mistyped.ClientSecret = "mistyped", secret.New("wrong")
	cfg.Notify.Connections = []config.Connection{connection, mistyped}
	a := start(t, cfg)
	for name, want := range map[string]struct {
		status int
		answer string
	}{
		"cloud":    {200, `"platform":"Bitbucket Cloud"`},
		"mistyped": {503, "Invalid OAuth client credentials. Check the connection's OAuth client id and secret."},
	} {
		status, answer := get(t, a.URL()+"/rest/outrigger/1.0/connections/"+name+"/test", func(r *http.Request) {
			r.Method = http.MethodPost
			asAdmin(r)
		})
		if status != want.status || !strings.Contains(strings.ReplaceAll(answer, `": "`, `":"`), want.answer) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}

	for hidden, want := range map[string]int{"hook secret": 202, "wrong": 401} {
		platform.SetWebhook(bitbucketcloud.Webhook{
			UUID: "{1}", Workspace: "acme", Slug: "shop", URL: a.URL() + "/hooks/cloud", Active: true, Secret: hidden, Events: []string{"repo:push"},
		})
		body := `{"actor":{"uuid":"{a}"},"repository":{"full_name":"acme/shop"},"push":{"changes":[]}}`
		sent := platform.Send(t.Context(), "acme", "shop", "repo:push", []byte(body))
		if len(sent) != 1 || sent[0].Err != nil || sent[0].Status != want || sent[0].Attempts != 1 {
			t.Errorf("signed with %q: %+v", hidden, sent)
		}
	}
}
