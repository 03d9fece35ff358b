package app

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify"
	"outrigger/internal/notify/hook"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/secret"
)

// cloudSample writes a body about a place.
func cloudSample(t *testing.T, name string, at cloudsamples.Place, seq int64) (key string, body []byte) {
	t.Helper()
	for _, s := range cloudsamples.Samples() {
		if s.Name == name {
			return s.EventKey, s.Render(at, seq, time.Now())
		}
	}
	t.Fatalf("no sample is called %s", name)
	return "", nil
}

// A repository's webhook of the cloud platform: its signed events become
// messages, those of other repositories are refused, and a body under another
// event's key is kept as not understood.
func TestCloudWebhooks(t *testing.T) {
	t.Parallel()
	chat, messages := sink(t)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1/32"}
	cfg.Notify.Connections = []config.Connection{{Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: cloudsamples.Engine.Site}}
	a := start(t, cfg)
	status, answer := get(t, a.URL()+"/rest/outrigger/1.0/connections/cloud/hooks", asAdmin, func(r *http.Request) {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(`{"name":"engine","projectKey":"atlas","repositoryKey":"engine"}`))
		r.Header.Set("Content-Type", "application/json")
	})
	var made struct{ URL, Secret string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusCreated {
		t.Fatal(status, answer, err)
	}
	if _, err := a.chat.store.SaveRule(t.Context(), notify.Actor{Name: "test"}, notify.Rule{
		Name: "all", Connection: "cloud", ProjectKey: "atlas", RepositoryKey: "engine", Format: notify.Teams, Enabled: true, ChannelName: "x",
		Filter: notify.Filter{EventTypes: []notify.EventType{notify.PipelineFailed, notify.PullRequestOpened, notify.PullRequestRescoped}},
	}, chat+"/x"); err != nil {
		t.Fatal(err)
	}
	platform := bitbucketcloud.New(bitbucketcloud.Options{})
	var keys []string
	for _, s := range cloudsamples.Samples() {
		keys = append(keys, s.EventKey)
	}
	platform.SetWebhook(bitbucketcloud.Webhook{Workspace: "atlas", Slug: "engine", URL: made.URL, Active: true, Events: keys, Secret: made.Secret})
	send := func(name string, want int) {
		t.Helper()
		key, body := cloudSample(t, name, cloudsamples.Engine, 3)
		for _, sent := range platform.Send(t.Context(), "atlas", "engine", key, body) {
			if sent.Status != want || sent.Err != nil {
				t.Errorf("%s is answered %d, want %d (%v)", name, sent.Status, want, sent.Err)
			}
		}
	}
	next := func(want string) {
		t.Helper()
		select {
		case m := <-messages:
			if !strings.Contains(m, want) {
				t.Errorf("want %q: %s", want, m)
			}
		case <-time.After(patience):
			t.Fatalf("no message came: %s", want)
		}
	}
	for _, s := range cloudsamples.Samples() { // a whole day, of which rules take a little
		if s.Name != "repository-renamed" && s.Name != "repository-transferred" && s.Name != "project-renamed" {
			send(s.Name, http.StatusAccepted)
		}
	}
	send("project-renamed", http.StatusForbidden) // of more than the hook's repository
	next("Pipeline #4 failed for main in atlas/engine")
	next("opened pull request #4")
	next("changed the commits of")
	if n := len(messages); n != 0 {
		t.Errorf("%d more messages", n)
	}

	signed := func(key string, body []byte, edit func(http.Header)) (int, string) {
		return get(t, made.URL, func(r *http.Request) {
			r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(string(body)))
			r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New(made.Secret)))
			if key != "" {
				r.Header.Set(hook.EventKeyHeader, key)
			}
			if edit != nil {
				edit(r.Header)
			}
		})
	}
	_, body := cloudSample(t, "pull-request-opened", cloudsamples.Engine, 4)
	for key, want := range map[string]string{
		"pullrequest:fulfilled": "its pull request is OPEN", "pullrequest:approved": "there is no approval", "": "X-Event-Key is missing",
	} {
		if status, answer := signed(key, body, nil); status != http.StatusAccepted {
			t.Errorf("an opened pull request under the key %q is answered %d %s", key, status, answer)
		}
		if _, kept := get(t, a.URL()+"/rest/mtbs/1.0/configuration/events?limit=1", asAdmin); !strings.Contains(kept, want) || !strings.Contains(kept, "not_understood") {
			t.Errorf("an opened pull request under the key %q is kept as %s", key, kept)
		}
	}
	for _, cut := range []string{`{"pullrequest":`, "{\"a\":\"\xff\"}", strings.Repeat("[", 200) + strings.Repeat("]", 200)} {
		if status, answer := signed("pullrequest:created", []byte(cut), nil); status != http.StatusBadRequest {
			t.Errorf("%.20q is answered %d %s", cut, status, answer)
		}
	}
	merged := strings.Replace(string(body), `"state":"OPEN"`, `"state":"MERGED"`, 1)
	if status, answer := signed("pullrequest:created", []byte(merged), nil); status != http.StatusAccepted || merged == string(body) {
		t.Errorf("a pull request that was merged since is answered %d %s", status, answer)
	}
	next("opened pull request #5")
	_, foreign := cloudSample(t, "pull-request-opened", cloudsamples.Place{Site: "https://bitbucket.org", Workspace: "atlas", Repository: "drum"}, 4)
	if status, _ := signed("pullrequest:created", foreign, nil); status != http.StatusForbidden {
		t.Errorf("another repository's is answered %d", status)
	}
	// A redelivery, with the same id or with another.
	for n, id := range []string{"one", "one", "two"} {
		if status, answer := signed("pullrequest:created", body, func(h http.Header) { h.Set("X-Request-UUID", id); h.Set("X-Attempt-Number", "2") }); status != http.StatusAccepted {
			t.Errorf("delivery %d is answered %d %s", n, status, answer)
		}
	}
	next("opened pull request #5")
	send("repository-renamed", http.StatusAccepted) // its new name is not in the hook's scope: an administrator decides
	if _, answer := get(t, a.URL()+"/rest/outrigger/1.0/renames", asAdmin); !strings.Contains(answer, "engine-mk2") {
		t.Errorf("the rename is not offered: %s", answer)
	}
	if n := len(messages); n != 0 {
		t.Errorf("%d more messages", n)
	}
}
