package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

// pushTo posts a signed push to a branch.
func pushTo(t *testing.T, a *App, branch string) {
	t.Helper()
	ref := map[string]string{"id": "refs/heads/" + branch, "displayId": branch, "type": "BRANCH"}
	body, err := json.Marshal(map[string]any{
		"eventKey": "repo:refs_changed", "actor": map[string]string{"name": "ada"},
		"repository": map[string]any{"slug": "canoe", "project": map[string]string{"key": "ATL"}},
		"changes": []any{map[string]any{
			"ref": ref, "refId": ref["id"], "type": "UPDATE",
			"fromHash": strings.Repeat("1", 40), "toHash": strings.Repeat("2", 40),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := get(t, a.URL()+"/hooks/main", func(r *http.Request) {
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("X-Request-Id", fmt.Sprint(len(branch), branch))
		r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	})
	if status != http.StatusAccepted {
		t.Fatalf("the webhook was answered %d %s", status, answer)
	}
}

// From the webhook to the channel: what needs backtracking is decided behind the
// webhook, in its order, and a mask that takes too many steps sends with a note
// and shows its error.
func TestMasksThatNeedBacktracking(t *testing.T) {
	t.Parallel()
	messages := make(chan string, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			messages <- r.URL.Path + " " + string(body)
		}
	}))
	t.Cleanup(sink.Close)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.0/8"}
	cfg.Notify.ChannelBurst = 10
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	a := start(t, cfg)
	for name, mask := range map[string]string{"exact": `(?!main$).*`, "hungry": `(a+)+(?=b)b`} {
		form := url.Values{
			"name": {name}, "connection": {"main"}, "webhookUrl": {sink.URL + "/" + name}, "format": {"teams"},
			"eventTypes": {"BRANCH_UPDATED"}, "branchMask": {mask}, "enabled": {"true"},
		}
		if status, body := consolePage(t, a, "/notifications/rules/new", form); status != http.StatusSeeOther {
			t.Fatalf("saving: %d %s", status, body)
		}
	}
	long := strings.Repeat("a", 64)
	branches := []string{"main", long, "b/" + long, "dev"}
	for _, branch := range branches {
		pushTo(t, a, branch)
	}
	got := map[string][]string{}
	for range 4 {
		path, body, _ := strings.Cut(<-messages, " ")
		for i := range branches {
			if branch := branches[len(branches)-1-i]; strings.Contains(body, branch) && branch != "main" {
				got[path] = append(got[path], branch)
				break
			}
		}
		if path == "/hungry" && !strings.Contains(body, "Sent although “Branch mask” of the rule") {
			t.Errorf("the message of an unanswered mask has no note: %s", body)
		}
	}
	if !slices.Equal(got["/exact"], branches[1:]) || !slices.Equal(got["/hungry"], branches[1:2]) {
		t.Errorf("messages: %q", got)
	}
	_, list := consolePage(t, a, "/notifications/rules", nil)
	if !strings.Contains(list, "mask too slow") {
		t.Errorf("the list does not show the error: %s", list)
	}
	if status, body := get(t, a.URL()+filters, asAdmin); status != 200 || !strings.Contains(body, `"maskError":"“Branch mask” took too many steps on a branch name, once at `) {
		t.Errorf("the API does not show the error: %d %s", status, body)
	}
	form := url.Values{"do": {"masks"}, "branchMask": {`(?!main$).*`}, "ignoredBranchMask": {"wip/.*"}, "names": {"main\r\nwip/a,b\r\n"}}
	_, body := consolePage(t, a, "/notifications/rules/new", form)
	body = html.UnescapeString(body)
	for _, text := range []string{"evaluated shortly after", "evaluated when the event is received", "<code>wip/a,b</code></th><td data-label=\"Answer\">match"} {
		if !strings.Contains(body, text) {
			t.Errorf("the form's try does not say %q: %s", text, body)
		}
	}
}
