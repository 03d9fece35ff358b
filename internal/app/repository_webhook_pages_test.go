package app

import (
	"net/url"
	"strings"
	"testing"
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
