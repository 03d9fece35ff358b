package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/notify/hook"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/secret"
)

// sink is a chat channel.
func sink(t *testing.T) (url string, messages <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// postAs sends JSON and gives the status.
func postAs(t *testing.T, a *App, path, body string, edit func(*http.Request)) int {
	t.Helper()
	status, answer := get(t, a.URL()+path, func(r *http.Request) {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		edit(r)
	})
	if status >= 300 {
		t.Logf("%s: %d %s", path, status, answer)
	}
	return status
}

// With an account on the platform, rules go by its groups, and builds are heard
// of that build servers post.
func TestGroupsAndBuilds(t *testing.T) {
	platform := bitbucket.New(bitbucket.Options{
		Token: "right", Users: []bitbucket.User{{Name: "ann"}, {Name: "joanna"}}, Groups: map[string][]string{"devs": {"ann"}},
	})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	chat, messages := sink(t)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1/32"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: server.URL, Token: secret.New("right"), WebhookSecret: secret.New("hook secret"),
	}}
	a := start(t, cfg)
	next := func() string {
		t.Helper()
		select {
		case m := <-messages:
			return m
		case <-time.After(patience):
			t.Fatal("no message came")
		}
		return ""
	}
	rule := func(name, more string) {
		t.Helper()
		body := fmt.Sprintf(`{"name":%q,"projectKey":"ATL","webhookUrl":"%s/x","channelName":"x",%s}`, name, chat, more)
		if status := postAs(t, a, "/rest/mtbs/1.0/configuration/filter", body, asAdmin); status != 201 {
			t.Fatalf("the rule %s: %d", name, status)
		}
	}
	rule("of the group", `"eventTypes":["BRANCH_UPDATED"],"groups":["Devs"]`)
	rule("builds", `"eventTypes":["BUILD_STATUS_SET"]`)

	commit := strings.Repeat("ab", 20)
	push := func(user, branch string) {
		t.Helper()
		body := fmt.Sprintf(`{"eventKey":"repo:refs_changed","actor":{"name":%q,"displayName":%q},"repository":{"slug":"canoe","project":{"key":"ATL"}},
			"changes":[{"ref":{"id":"refs/heads/%[3]s","displayId":%[3]q,"type":"BRANCH"},"fromHash":"%[4]s","toHash":"%[5]s","type":"UPDATE"}]}`,
			user, user, branch, strings.Repeat("0a", 20), commit)
		status := postAs(t, a, "/hooks/main", body, func(r *http.Request) {
			r.Header.Set(hook.SignatureHeader, hook.Sign([]byte(body), secret.New("hook secret")))
		})
		if status != http.StatusAccepted {
			t.Fatalf("the push of %s: %d", user, status)
		}
	}
	push("joanna", "not-hers") // a part of whose name is that of a member
	push("ann", "main")
	if m := next(); !strings.Contains(m, "main") || strings.Contains(m, "not-hers") {
		t.Errorf("the first message: %s", m)
	}

	if _, err := a.identity.CreateUser(t.Context(), "ci", secret.New("a password for the build server")); err != nil {
		t.Fatal(err)
	}
	at := identity.Resource{Connection: "main", Project: "ATL", Repository: "canoe"}
	if _, err := a.identity.Grant(t.Context(), "ci", identity.RepoAdmin, at); err != nil {
		t.Fatal(err)
	}
	bearer := func(scope identity.Scope) func(*http.Request) {
		token, _, err := a.identity.CreateToken(t.Context(), "ci", string(scope), scope, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }
	}
	long := "/hooks/main/builds/projects/ATL/repos/canoe/commits/" + commit
	const build = `{"key":"K","state":"%s","name":"Nightly build","url":"https://ci.example.com/1"}`
	ci := bearer(identity.Builds)
	for _, c := range []struct {
		path, body string
		as         func(*http.Request)
		want       int
	}{
		{long, fmt.Sprintf(build, "FAILED"), func(*http.Request) {}, 401},
		{long, fmt.Sprintf(build, "FAILED"), bearer(identity.Read), 403},
		{long, fmt.Sprintf(build, "FAILED"), bearer(identity.Monitoring), 403},
		{strings.Replace(long, "canoe", "hull", 1), fmt.Sprintf(build, "FAILED"), ci, 403},
		{long, fmt.Sprintf(build, "EXPLODED"), ci, 400},
		{"/hooks/main/builds/" + strings.Repeat("cd", 20), fmt.Sprintf(build, "FAILED"), ci, 404},
		{"/hooks/main/builds/" + commit, fmt.Sprintf(build, "FAILED"), ci, 202},
		{long, fmt.Sprintf(build, "FAILED"), ci, 202},
		{long, fmt.Sprintf(build, "SUCCESSFUL"), bearer(identity.All), 202},
		{"/rest/mtbs/1.0/configuration/filter", `{}`, ci, 403},
	} {
		if status := postAs(t, a, c.path, c.body, c.as); status != c.want {
			t.Errorf("%s %s: %d, want %d", c.path, c.body, status, c.want)
		}
	}
	if failed, succeeded := next(), next(); !strings.Contains(failed, "Nightly build” failed") || !strings.Contains(succeeded, "Nightly build” succeeded") || !strings.Contains(failed, "main") {
		t.Errorf("messages %s, %s", failed, succeeded)
	}
}
