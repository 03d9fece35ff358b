package bitbucketcloud

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The page withdraws grants and sends events to the webhooks that it shows.
func TestSettingsPage(t *testing.T) {
	p, base, _ := serve(t, Options{})
	server := httptest.NewServer((&Page{Platform: p}).Handler())
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	shows := func(resp *http.Response, err error, texts ...string) {
		t.Helper()
		page := read(t, resp, err)
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("no %q in %s", text, page)
			}
		}
	}
	post := func(path string, form url.Values, texts ...string) {
		t.Helper()
		resp, err := client.PostForm(server.URL+path, form)
		shows(resp, err, texts...)
	}
	resp, err := client.Get(server.URL)
	shows(resp, err, "Ana &lt;b&gt;", "No app may use this account", "There is no webhook yet")

	query, _ := p.Grant(authorizeURL(base, nil), "712020:ana")
	exchange(t, base, query.Get("code"))
	resp, err = client.Get(server.URL)
	shows(resp, err, "Outrigger may use this account")
	post("/withdraw", url.Values{"account": {"712020:ana"}}, "The grant is withdrawn")
	if access, refresh := p.Tokens("712020:ana"); access+refresh != 0 {
		t.Error(access, refresh)
	}

	event := url.Values{"workspace": {"acme"}, "repository": {"shop"}, "event": {"pipeline-failed"}}
	post("/events", event, "No webhook of acme/shop asks for repo:commit_status_updated.")
	r := receive(t, 202)
	p.SetWebhook(Webhook{Workspace: "acme", Slug: "shop", URL: r.URL, Active: true, Events: []string{"repo:commit_status_updated"}})
	post("/events", event, "Sent pipeline-failed. Answered 202.", r.URL)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bodies) != 1 || !strings.Contains(r.bodies[0], `"full_name":"acme/shop"`) {
		t.Error(r.bodies)
	}
}
