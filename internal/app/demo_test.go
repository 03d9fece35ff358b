package app

import (
	"bufio"
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// startDemo starts the demo with one connection, as the command does.
func startDemo(t *testing.T) *Demo {
	t.Helper()
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.0/8"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "demo", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	d, err := NewDemo(cfg, Options{Version: "v0", PasswordCost: identitytest.Cost})
	if err != nil {
		t.Fatal(err)
	}
	d.steps.grace = patience
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// The demo has a rule of the cloud edition whose account is authorised: what
// happens on the played cloud platform is a card on the chat platform.
func TestCloudEditionInTheDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch, err := http.NewRequestWithContext(ctx, http.MethodGet, d.ChatURL()+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	live, err := client.Do(watch)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Body.Close()
	send := func(event string) {
		t.Helper()
		resp, err := client.PostForm(d.CodeCloudURL()+"events", url.Values{"workspace": {"atlas"}, "repository": {"engine"}, "event": {event}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if to := resp.Header.Get("Location"); !strings.Contains(to, "Answered+202") {
			t.Fatalf("%s: %s %s", event, resp.Status, to)
		}
	}
	send("pipeline-succeeded") // which the rule does not take
	send("pipeline-failed")
	changes := bufio.NewScanner(live.Body)
	for len(d.world.Chat.Messages("engine")) == 0 && changes.Scan() {
	}
	got := d.world.Chat.Messages("engine")
	if len(got) != 1 {
		t.Fatalf("%d messages came", len(got))
	}
	if title := got[0].Card.Title; !strings.Contains(title, "failed") || !strings.Contains(title, "atlas/engine") {
		t.Error(title)
	}
	if access, refresh := d.world.Code.Platform.Tokens(demoAccount); access == 0 || refresh != 1 {
		t.Errorf("%d access tokens, %d refresh tokens", access, refresh)
	}
	status, answer := get(t, d.URL()+"/rest/mtbs/1.0/cloud/atlas/engine/rules", asAdmin)
	if status != 200 || !strings.Contains(answer, `"authorizationRequired":false`) {
		t.Errorf("%d %s", status, answer)
	}
}

// People can try single sign-on in the demo: the provider is played.
func TestSingleSignOnInTheDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	_, page := get(t, d.URL()+"/sign-in")
	wants(t, "the sign-in page", page, "Sign in with the played provider")
	for account, want := range map[string]int{"ada": http.StatusOK, "grace": http.StatusForbidden} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &person{http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, t, d.App}
		status, at, body := b.send("GET", d.URL()+"/sign-in/oidc?to=/", nil)
		if status != http.StatusOK || at.Path != "/authorize" {
			t.Fatalf("%d %s: %s", status, at, body)
		}
		if status, at, body = b.send("POST", at.String(), url.Values{"account": {account}, "answer": {"yes"}}); status != http.StatusOK || at.Path != "/" {
			t.Fatalf("%s: %d %s: %s", account, status, at, body)
		}
		wants(t, "the overview", body, "<summary><span>"+account+"</span></summary>")
		if status, _, _ = b.send("GET", d.URL()+"/mail", nil); status != want {
			t.Errorf("%s gets %d from an administrator's page, want %d", account, status, want)
		}
	}
}

// The demo's console is at localhost, where browsers take passkeys; what is withdrawn
// on the played platform is known at once, and its project sends its events here.
func TestDemoTellsTheTruth(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	if why := d.identity.NoPasskeys(); why != "" || !strings.HasPrefix(d.URL(), "http://localhost:") {
		t.Errorf("%s: %s", d.URL(), why)
	}
	if list := d.code.Webhooks("ATL"); len(list) != 1 || list[0].URL != d.world.Platform.HookURL || !list[0].Active {
		t.Errorf("the webhooks of the played platform are %+v", list)
	}
	before, err := d.App.chat.store.ListAuthorizations(t.Context(), 0, 0, 10)
	if err != nil || len(before) != 1 || before[0].State != notify.AuthorizationActive {
		t.Fatalf("%+v, %v", before, err)
	}
	for range 2 {
		resp, err := http.PostForm(d.CodeCloudURL()+"withdraw", url.Values{"account": {demoAccount}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	after, err := d.App.chat.store.ListAuthorizations(t.Context(), 0, 0, 10)
	if err != nil || len(after) != 1 || after[0].State != notify.AuthorizationWithdrawn {
		t.Errorf("after the withdrawal: %+v, %v", after, err)
	}
}

func TestNameOfTheDemo(t *testing.T) {
	for listen, want := range map[string]string{"127.0.0.1:8090": "localhost", "192.0.2.7:8090": "", ":8090": "", "no address": ""} {
		if got := nameOf(listen); got != want {
			t.Errorf("%s: %q, want %q", listen, got, want)
		}
	}
}
