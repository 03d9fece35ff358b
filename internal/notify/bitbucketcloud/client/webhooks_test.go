package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/secret"
)

const hookURL = "https://out.example.com/hooks/cloud/shop"

func TestWebhooks(t *testing.T) {
	p := play(t, bitbucketcloud.Options{UnknownEvents: []string{"pullrequest:push", "pullrequest:comment_resolved"}})
	others := p.platform.SetWebhook(bitbucketcloud.Webhook{Workspace: "acme", Slug: "shop", URL: "https://ci.example.com/", Events: []string{"repo:push"}})
	ctx := t.Context()
	made, err := p.PutWebhook(ctx, p.c, p.token, shop, Webhook{URL: hookURL, Secret: secret.New("s3cret")})
	if err != nil || made.UUID == "" || made.URL != hookURL || !made.Active || !made.SecretSet || !made.Secret.IsZero() ||
		len(made.Events) != 25 || !slices.Contains(made.Events, "repo:commit_status_updated") || slices.Contains(made.Events, "pullrequest:push") {
		t.Fatalf("%+v, %v", made, err)
	}
	on := p.platform.Webhooks("acme", "shop")
	if len(on) != 2 || on[1].Secret != "s3cret" || on[1].Description != "Outrigger" || !slices.Equal(on[1].Events, made.Events) {
		t.Errorf("%+v", on)
	}
	all, err := p.Webhooks(ctx, p.c, p.token, shop)
	want := []Webhook{{UUID: others, URL: "https://ci.example.com/", Events: []string{"repo:push"}}, made}
	if diff := cmp.Diff(want, all, cmp.AllowUnexported(secret.Value{})); err != nil || diff != "" {
		t.Error(err, diff)
	}

	p.platform.SetWebhook(bitbucketcloud.Webhook{UUID: made.UUID, Workspace: "acme", Slug: "shop", URL: "https://old.example.com/", Secret: "s3cret", Events: []string{"repo:push"}})
	if again, err := p.PutWebhook(ctx, p.c, p.token, shop, Webhook{UUID: made.UUID, URL: hookURL}); err != nil || !cmp.Equal(made, again, cmp.AllowUnexported(secret.Value{})) {
		t.Errorf("%+v, %v", again, err)
	}
	if on := p.platform.Webhooks("acme", "shop"); len(on) != 2 || on[1].Secret != "s3cret" || !on[1].Active {
		t.Errorf("the secret stays where none is given: %+v", on)
	}
	made.Secret = secret.New("another")
	if _, err := p.PutWebhook(ctx, p.c, p.token, shop, made); err != nil || p.platform.Webhooks("acme", "shop")[1].Secret != "another" {
		t.Errorf("%v", err)
	}
	for range 2 { // gone already is no error
		if err := p.DeleteWebhook(ctx, p.c, p.token, shop, made.UUID); err != nil || len(p.platform.Webhooks("acme", "shop")) != 1 {
			t.Error(err)
		}
	}
	_, err = p.PutWebhook(ctx, p.c, p.token, shop, made)
	p.says(t, err, "404 Not Found, Webhook not found.")
}

func TestWebhooksThatAreRefused(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	create := func(url, hidden string) error {
		_, err := p.PutWebhook(t.Context(), p.c, p.token, shop, Webhook{URL: url, Secret: secret.New(hidden)})
		return err
	}
	for _, url := range []string{"http://127.0.0.1:8080/hooks/cloud", "https://localhost/hooks", "https://10.1.2.3/", "https://[::1]/", "https://out/hooks", "https://out.internal/"} {
		p.says(t, create(url, "s3cret"), "400 Bad Request, Bad request; url: The URL must be publicly accessible.")
	}
	p.says(t, create(hookURL, strings.Repeat("s", 129)), "secret: Ensure this value has at most 128 characters.")
	if n := len(p.platform.Webhooks("acme", "shop")); n != 0 {
		t.Errorf("%d were made", n)
	}
	p.authorise(t, "712020:ben")
	for _, err := range []error{create(hookURL, "s3cret"), p.DeleteWebhook(t.Context(), p.c, p.token, shop, "{x}")} {
		p.says(t, err, "403 Forbidden, Access denied. You must have admin access. Give the account access to acme/shop on the platform.")
	}
	_, err := p.Webhooks(t.Context(), p.c, p.token, shop)
	p.says(t, err, "403 Forbidden")
	p.platform.SetConsumer(bitbucketcloud.Consumer{Key: "key", Scopes: []string{"account", "repository"}})
	_, err = p.Webhooks(t.Context(), p.c, p.token, shop)
	p.says(t, err, "Give the platform's OAuth consumer the permission webhook")
}
