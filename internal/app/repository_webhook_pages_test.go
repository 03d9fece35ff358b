package app

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/secret"
)

// Where Outrigger may not create webhooks, the page of a repository's rules makes
// the hook in one click, and has the address to enter.
func TestRepositoryWebhookPages(t *testing.T) {
	a, _ := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	const at = "?connection=cloud&workspace=acme&repository=shop"
	const rules = "/notifications/cloud/rules"
	status, _, body := ada.send("GET", rules+at, nil)
	if status != 200 || !strings.Contains(body, "not checked yet") || !strings.Contains(body, "Create the hook for this repository") {
		t.Fatalf("%d %s", status, body)
	}
	if status, to, body := ada.send("POST", rules+"/webhook"+at, url.Values{}); status != 200 || to.Path != rules || !strings.Contains(body, "does not let Outrigger create webhooks") {
		t.Errorf("created without manage_webhooks: %d at %s: %s", status, to, body)
	}
	status, _, body = ada.send("POST", rules+"/hook"+at, url.Values{})
	if status != 200 || !strings.Contains(body, a.URL()+"/hooks/cloud/acme-shop") || !secretOn.MatchString(body) || !strings.Contains(body, "acme/shop") {
		t.Errorf("%d %s", status, body)
	}
	status, _, body = ada.send("GET", rules+at, nil)
	if status != 200 || !strings.Contains(body, a.URL()+"/hooks/cloud/acme-shop") || !strings.Contains(body, "Rotate the secret") || strings.Contains(body, "Create the hook for") {
		t.Errorf("%d %s", status, body)
	}
	if h, _ := a.chat.store.Platforms().Hook("cloud", "acme-shop"); h == nil || h.Scope.RepositoryKey != "shop" || strings.Contains(body, h.Secret.Reveal()) {
		t.Errorf("%+v", h)
	}
	for _, path := range []string{"/hook", "/webhook"} {
		if status, _, _ := ada.send("POST", rules+path+"?connection=cloud&workspace=acme&repository=site", url.Values{}); status != 403 {
			t.Errorf("%s of a repository of others: %d", path, status)
		}
	}
}

// Deleting the last rule says what becomes of the webhook on the platform, and
// the page of the repository shows why it is still there; so does deleting the
// connection.
func TestWhatBecomesOfARepositorysWebhook(t *testing.T) {
	t.Parallel()
	var site string
	a, platform := cloudWorld(t, func(cfg *config.Config) {
		site, cfg.Notify.Connections = cfg.Notify.Connections[0].BaseURL, cfg.Notify.Connections[1:]
	})
	if _, _, err := a.chat.store.CreateConnection(t.Context(), notify.Actor{Name: "root"}, notify.Connection{
		Name: "cloud", Kind: notify.KindBitbucketCloud, BaseURL: site, OAuthClientID: "key", OAuthClientSecret: secret.New("client-secret"), ManageWebhooks: true,
	}, nil); err != nil {
		t.Fatal(err)
	}
	platform.SetConsumer(bitbucketcloud.Consumer{Key: "key", Secret: "client-secret", Callback: a.URL() + "/oauth/cloud", Scopes: []string{"account", "repository", "webhook"}})
	ada := newPerson(t, a, "ada")
	ada.consent(ada.leave("/notifications/cloud"), "grant")
	for i, name := range []string{"one", "two"} {
		events := []string{"BRANCH_UPDATED", "TAG_CREATED"}[i] // two of the same are pointed out
		if status, to, body := ada.send("POST", cloudRuleNew, url.Values{
			"name": {name}, "webhookUrl": {"https://hooks.slack.com/services/T0/B0/x"}, "format": {"slack"}, "eventTypes": {events}, "expectedCommitStatus": {"BOTH"},
		}); status != 200 || to.Path != "/notifications/cloud/rules" {
			t.Fatalf("%d at %s: %s", status, to, body)
		}
	}
	rules, err := a.chat.store.ListRules(t.Context(), notify.RuleQuery{Connection: "cloud", ProjectKey: "acme", RepositoryKey: "shop"})
	if err != nil || len(rules) != 2 {
		t.Fatal(rules, err)
	}
	last := rules[1]
	deletion := func(id int64) string { return fmt.Sprintf("/notifications/cloud/rules/%d/delete", id) }
	// The first rule had the webhook created, as it is where the base URL is known.
	keep := func(at time.Time, remote string) {
		t.Helper()
		if err := a.chat.store.SaveRepositoryWebhook(t.Context(), notify.RepositoryWebhook{
			Connection: "cloud", At: notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"}, AuthorizationID: last.AuthorizationID,
			State: notify.WebhookSends, Hook: "acme-shop", RemoteID: remote, SetAt: at, CheckedAt: a.clock(),
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	a.chat.webhooks.Stop() // it would look itself
	keep(a.clock(), "{w}")
	ada.sees(deletion(last.ID), 200, "Its channel gets no more messages", "-last rule of the repository")
	if err := a.chat.store.DeleteRule(t.Context(), notify.Actor{Name: "ada"}, rules[0].ID, 0); err != nil {
		t.Fatal(err)
	}
	ada.sees(deletion(last.ID), 200, "Outrigger also deletes the webhook that it created there on the platform.")
	keep(time.Time{}, "{w}")
	ada.sees(deletion(last.ID), 200, "webhook stays on the platform; delete it there", "-also deletes")
	keep(time.Time{}, "")
	ada.sees(deletion(last.ID), 200, "-last rule of the repository")
	keep(a.clock(), "{w}")
	if status, _, body := ada.send("POST", deletion(last.ID), url.Values{}); status != 200 || !strings.Contains(body, "within a minute") || !strings.Contains(body, "not needed") {
		t.Errorf("%d %s", status, body)
	}
	is, err := a.chat.store.RepositoryWebhook(t.Context(), "cloud", notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	is.Reason = "The platform of cloud answers 500."
	if err := a.chat.store.SaveRepositoryWebhook(t.Context(), is, nil); err != nil {
		t.Fatal(err)
	}
	ada.sees(cloudRuleList, 200, "could not be deleted on the platform: The platform of cloud answers 500. Outrigger tries again every hour")
	newPerson(t, a, "admin").sees("/notifications/connections/cloud/delete", 200, "The webhooks that Outrigger created stay on the platform, in acme/shop; delete them there.")
}
