package app

import (
	"net/http"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/rest/openapitest"
	"outrigger/internal/secret"
)

// described is the description of a server's REST API.
func described(t *testing.T, a *App) *openapitest.Spec {
	t.Helper()
	spec, err := openapitest.Load(a.router.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// The description of the REST API is of use to its readers, and the running server
// does what it says: every example does what it shows.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	a := start(t, cfg)
	spec := described(t, a)
	for _, wrong := range spec.Complaints() {
		t.Error(wrong)
	}
	transport, err := spec.Transport(a.URL(), &http.Transport{DisableKeepAlives: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Replay(t.Context(), &http.Client{Transport: transport}, a.URL(), asAdmin); err != nil {
		t.Error(err)
	}
}

// The examples of the cloud edition work on a server whose connection is of it,
// with an account that administers the repository that they are about.
func TestEveryRouteOfTheCloudEditionIsDescribed(t *testing.T) {
	t.Parallel()
	a, platform := cloudWorld(t, func(cfg *config.Config) { cfg.Notify.Connections = cfg.Notify.Connections[:1] })
	platform.Change(func(o *bitbucketcloud.Options) {
		o.Repositories = append(o.Repositories, bitbucketcloud.Repository{Workspace: "atlas", Slug: "engine", Permissions: map[string]string{"712020:ana": "admin"}})
	})
	admin := newPerson(t, a, "admin")
	admin.consent(admin.leave("/notifications/cloud"), "grant")
	spec := described(t, a)
	transport, err := spec.Transport(a.URL(), &http.Transport{DisableKeepAlives: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.ReplayAll(t.Context(), &http.Client{Transport: transport}, a.URL(), "/rest/mtbs/1.0/cloud/", asAdmin); err != nil {
		t.Error(err)
	}
	rules, err := a.chat.store.ListRules(t.Context(), notify.RuleQuery{Connection: "cloud", ProjectKey: "atlas", RepositoryKey: "engine"})
	if err != nil || len(rules) != 1 || rules[0].Enabled || rules[0].Account.Name != "Ana" {
		t.Errorf("%+v, %v", rules, err)
	}
}
