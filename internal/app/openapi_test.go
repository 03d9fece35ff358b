package app

import (
	"net/http"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/rest"
	"outrigger/internal/rest/openapitest"
	"outrigger/internal/secret"
)

// The description of the REST API and the running server are held against each
// other: every route is described and every described operation is a route;
// every example does what it shows.
func TestOpenAPI(t *testing.T) {
	spec, err := openapitest.Load(rest.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	a := start(t, cfg)
	for _, difference := range spec.Differences(a.router.Routes()) {
		t.Error(difference)
	}
	transport, err := spec.Transport(a.URL(), &http.Transport{DisableKeepAlives: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Replay(t.Context(), &http.Client{Transport: transport}, a.URL(), asAdmin); err != nil {
		t.Error(err)
	}
}
