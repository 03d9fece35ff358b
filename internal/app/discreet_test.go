package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

// Which proxy requests go through, and what it answers, is for administrators: in
// tests, deliveries and channels, others read that a request did not get through.
func TestTheProxyIsForAdministrators(t *testing.T) {
	t.Parallel()
	var answer atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(answer.Load())) }))
	t.Cleanup(proxy.Close)
	address := proxy.Listener.Addr().String()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s")}}
	a := start(t, cfg)
	if status, body := put(t, a, "PUT", settingsPath, `{"proxyUrl":"`+proxy.URL+`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for name, at := range map[string]identity.Resource{"global": {}, "repository": {Connection: "dc", Project: "ATL", Repository: "canoe"}} {
		permission := identity.Admin
		if name == "repository" {
			permission = identity.RepoAdmin
		}
		if _, err := a.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.identity.Grant(t.Context(), name, permission, at); err != nil {
			t.Fatal(err)
		}
	}
	as := func(user, method, path, body string) (int, string) {
		return get(t, a.URL()+path, func(r *http.Request) {
			r.Method = method
			r.SetBasicAuth(user, password)
			r.Header.Set("Content-Type", "application/json")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		})
	}
	reads := func(what, user, method, path, body string) {
		t.Helper()
		status, said := as(user, method, path, body)
		named := strings.Contains(said, address)
		if status != http.StatusOK || named != (user != "repository") || !named && !strings.Contains(said, "an administrator can see why") {
			t.Errorf("%s, %s: %d %s", user, what, status, said)
		}
	}
	const webhook = "https://8.8.8.8/services/secret"
	const place = `"projectKey":"ATL","repositoryKey":"canoe","webhookUrl":"` + webhook + `"`
	for _, status := range []int{404, 407, 502, 403} { // the last breaks the channel
		answer.Store(int32(status))
		for _, user := range []string{"admin", "global", "repository"} {
			reads(fmt.Sprintf("a test message that the proxy answers with %d", status), user, "POST", testPath, `{`+place+`}`)
		}
	}
	for _, name := range []string{"one", "two"} {
		if status, body := as("repository", "POST", "/rest/mtbs/1.0/configuration/filter", `{"name":"`+name+`",`+place+`,"eventTypes":["BRANCH_UPDATED"]}`); status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
	}
	hookedBy(t, a, "dc", "s", "repo:refs_changed", `{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
		"actor":{"name":"ada"},"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlas"}},
		"changes":[{"ref":{"id":"refs/heads/b","displayId":"b","type":"BRANCH"},"refId":"refs/heads/b",
			"fromHash":"1111111111111111111111111111111111111111","toHash":"2222222222222222222222222222222222222222","type":"UPDATE"}]}`)
	const deliveries, channels = "/rest/mtbs/1.0/configuration/deliveries", "/rest/mtbs/1.0/configuration/channels"
	eventually(t, func() bool { _, body := as("admin", "GET", deliveries, ""); return strings.Contains(body, address) })
	for _, user := range []string{"admin", "global", "repository"} {
		for _, path := range []string{deliveries + "?filterId=1", deliveries + "/1", channels} {
			reads(path, user, "GET", path, "")
		}
	}
}
