package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"outrigger/internal/app"
	"outrigger/internal/config"
	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// withProvider are settings by which ann signs in with a provider that does not say
// when she did.
func withProvider(t *testing.T) *config.Config {
	t.Helper()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	cfg := config.Default()
	cfg.Listen, cfg.BaseURL = free.Addr().String(), "http://"+free.Addr().String()
	cfg.DataDir, cfg.NodeID, cfg.Mail.Listen = t.TempDir()+"/data", "confirm", "127.0.0.1:0"
	cfg.AdminPassword = secret.New(adminPassword)
	provider := playgroundtest.NewOpenID(openid.Options{Accounts: []openid.Account{{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}}}})
	provider.SetLie(playgroundtest.NoAuthTime)
	provider.SetClient(openid.Client{ID: "outrigger", Secret: "client secret", Callback: cfg.BaseURL + "/sign-in/oidc/callback"})
	server := httptest.NewServer(provider.Handler())
	t.Cleanup(server.Close)
	o := &cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret, o.Name = server.URL, "outrigger", secret.New("client secret"), "the company"
	return cfg
}

// send returns where a request leads, and the page there.
func send(t *testing.T, browser *http.Client, address string, form url.Values) (at, body string) {
	t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Request.URL.String(), string(page)
}

// A code that is made while the server is stopped works once it runs again, in the
// session from before.
func TestACodeMadeWhileTheServerIsStopped(t *testing.T) {
	cfg := withProvider(t)
	t.Setenv("OUTRIGGER_DATA_DIR", cfg.DataDir)
	serve := func(do func()) {
		t.Helper()
		a, err := app.New(cfg, app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		do()
		if err := a.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	serve(func() {
		at, _ := send(t, browser, cfg.BaseURL+"/sign-in/oidc?to=%2F", nil)
		if at, body := send(t, browser, at, url.Values{"account": {"s-ann"}, "answer": {"yes"}}); !strings.HasPrefix(at, cfg.BaseURL) {
			t.Fatalf("%s: %s", at, body)
		}
		err := userConfirmCmd{Local: true, Name: "oidc:ann"}.Run(t.Context(), streams{strings.NewReader(""), io.Discard, io.Discard})
		if err == nil {
			t.Error("a code is made in the database of a server that runs")
		}
	})

	var plain, said, asJSON bytes.Buffer
	if err := (userConfirmCmd{Local: true, Name: "oidc:ann", JSON: true}).Run(t.Context(), streams{strings.NewReader(""), &asJSON, io.Discard}); err != nil {
		t.Fatal(err)
	}
	var first struct {
		Name, Code string
		ExpiresAt  time.Time
	}
	if err := json.Unmarshal(asJSON.Bytes(), &first); err != nil || first.Name != "oidc:ann" || first.Code == "" || time.Until(first.ExpiresAt) > 10*time.Minute {
		t.Errorf("%s, %v", &asJSON, err)
	}
	if err := (userConfirmCmd{Local: true, Name: "oidc:ann"}).Run(t.Context(), streams{strings.NewReader(""), &plain, &said}); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^([A-Z2-7]{4}-){3}[A-Z2-7]{4}\n$`).MatchString(plain.String()) || !strings.Contains(said.String(), "works once, until") || strings.Contains(said.String(), strings.TrimSpace(plain.String())) {
		t.Errorf("printed %q, said %q", &plain, &said)
	}

	serve(func() {
		enter := func(code string) (at, body string) {
			return send(t, browser, cfg.BaseURL+"/confirm", url.Values{"confirm-to": {"/account/second-factor/app"}, "confirm-once": {code}})
		}
		if at, body := enter(first.Code); !strings.HasSuffix(at, "/confirm") || !strings.Contains(body, "Ask for another one") {
			t.Errorf("the code before: %s %s", at, body)
		}
		if at, body := enter(plain.String()); !strings.HasSuffix(at, "/account/second-factor/app") || !strings.Contains(body, "data:image/png") {
			t.Errorf("the code: %s %s", at, body)
		}
	})
}
