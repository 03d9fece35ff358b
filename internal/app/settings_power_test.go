package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// listeningProxy is a proxy of plain http that answers everything itself, and
// keeps which credentials came by, for which host.
func listeningProxy(t *testing.T) (address string, heard func() string) {
	t.Helper()
	var (
		mu  sync.Mutex
		all strings.Builder
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&all, "%s %s %s %s\n", r.Method, r.URL.Host, r.Header.Get("Authorization"), body)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// inTheClear is a server whose connections and remote queue are asked over plain
// http, with credentials.
func inTheClear(t *testing.T) *App {
	t.Helper()
	cfg := settings(t)
	for i := range 3 {
		cfg.Notify.Connections = append(cfg.Notify.Connections, config.Connection{
			Name: fmt.Sprintf("code%d", i), Kind: config.KindBitbucketDC, BaseURL: fmt.Sprintf("http://code%d.invalid", i),
			Token: secret.New("PLATFORM-TOKEN"), WebhookSecret: secret.New("sixteen--letters"),
		})
	}
	cfg.Mail.Source, cfg.Mail.Listen = config.SourceRemote, config.MailOff
	cfg.Mail.Remote = config.MailRemote{URL: "http://queue.invalid/rest", User: "monitor", Password: secret.New("QUEUE-PASSWORD")}
	return start(t, cfg)
}

// askEverything has the server ask its platforms and the remote queue.
func askEverything(t *testing.T, a *App) {
	t.Helper()
	for i := range 3 {
		consolePage(t, a, fmt.Sprintf("/notifications/connections/code%d/test", i), map[string][]string{})
	}
	get(t, a.URL()+"/rest/mailqueue/1.0/status", asAdmin)
}

// Who may not read the credentials of connections may not have them sent by a way of
// their choice.
func TestTheProxyOfTheSettingsReadsNoCredentials(t *testing.T) {
	t.Parallel()
	proxy, heard := listeningProxy(t)
	a := inTheClear(t)
	for _, name := range []string{"gil", "gus"} {
		if _, err := a.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.identity.Grant(t.Context(), name, identity.Admin, identity.Resource{}); err != nil {
			t.Fatal(err)
		}
		for _, request := range []string{"PUT " + settingsPath, "POST " + settingsPath + "/test"} {
			method, path, _ := strings.Cut(request, " ")
			status, body := get(t, a.URL()+path, func(r *http.Request) {
				r.Method = method
				r.SetBasicAuth(name, password)
				r.Header.Set("Content-Type", "application/json")
				r.Body = io.NopCloser(strings.NewReader(`{"proxyUrl":"http://` + proxy + `"}`))
			})
			if status != http.StatusForbidden {
				t.Errorf("%s as %s: %d %s", request, name, status, body)
			}
		}
	}
	askEverything(t, a)
	if status, body := put(t, a, "PUT", settingsPath, `{"proxyUrl":"http://`+proxy+`"}`); status != http.StatusOK {
		t.Fatalf("saving: %d %s", status, body)
	}
	askEverything(t, a)
	for _, hidden := range []string{"Bearer", "Basic", "PLATFORM-TOKEN"} {
		if strings.Contains(heard(), hidden) {
			t.Errorf("the proxy heard credentials: %s", heard())
		}
	}

	// What is cut off says so, to administrators.
	_, page := consolePage(t, a, "/", nil)
	for _, text := range []string{
		"notify.connections: code0: http://code0.invalid is not asked: its credentials could be read in the proxy of the settings",
		"notify.connections: code2: http://code2.invalid is not asked", "mail.remote.url: http://queue.invalid/rest is not asked",
		"use https for it, set the proxy in the server&#39;s environment instead, or name the host in NO_PROXY",
	} {
		wants(t, "the overview", page, text)
	}
	if status, body := put(t, a, "PUT", settingsPath, `{}`); status != http.StatusOK {
		t.Fatalf("saving: %d %s", status, body)
	}
	if _, page := consolePage(t, a, "/", nil); strings.Contains(page, "is not asked") {
		t.Error("without a proxy, something is not asked")
	}
}

// A proxy at an address where clouds hand out credentials is not saved, by anyone.
func TestTheProxyOfTheSettingsIsNowhereNearMetadata(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	for _, address := range []string{"169.254.169.254", "[fe80::1]", "[fd00:ec2::254]:3128"} {
		for request, want := range map[string]int{"PUT ": http.StatusBadRequest, "POST /test": http.StatusBadRequest} {
			method, path, _ := strings.Cut(request, " ")
			if status, body := put(t, a, method, settingsPath+path, `{"proxyUrl":"http://`+address+`"}`); status != want || !strings.Contains(body, "The proxy must not be in ") {
				t.Errorf("%s%s: %d %s", request, address, status, body)
			}
		}
	}
}

// Setting and testing the proxy asks who is there again, once the sign-in is a
// while ago.
func TestTheProxyOfTheSettingsAsksAgain(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	a := startAt(t, settings(t), func() time.Time { return time.Now().Add(time.Duration(passed.Load())) })
	session := http.Cookie{Name: identity.SessionCookie(false, ""), Value: signedIn(t, a, "admin")}
	token, _, err := a.identity.CreateToken(t.Context(), "admin", "script", identity.All, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	passed.Store(int64(11 * time.Minute))
	for _, form := range []string{"proxyUrl=http://proxy.invalid", "do=test&proxyUrl=http://proxy.invalid"} {
		_, body := get(t, "http://"+a.Addr()+"/notifications/settings", func(r *http.Request) {
			r.Method = http.MethodPost
			r.AddCookie(&session)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader(form))
		})
		wants(t, form, body, "Confirm that it is you")
	}
	for method, path := range map[string]string{"PUT": settingsPath, "POST": settingsPath + "/test"} {
		for name, sign := range map[string]func(*http.Request){
			"the session": func(r *http.Request) { r.AddCookie(&session) },
			"a token":     func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) },
		} {
			status, body := get(t, a.URL()+path, sign, func(r *http.Request) {
				r.Method = method
				r.Header.Set("Content-Type", "application/json")
				r.Body = io.NopCloser(strings.NewReader(`{"proxyUrl":"http://proxy.invalid"}`))
			})
			if status != http.StatusForbidden {
				t.Errorf("%s by %s: %d %s", method, name, status, body)
			}
		}
	}
	if stored, err := a.settings.Read(t.Context()); err != nil || stored.Version != 0 {
		t.Errorf("%+v, %v", stored, err)
	}
}

func signedIn(t *testing.T, a *App, name string) string {
	t.Helper()
	session, _, err := a.identity.SignIn(t.Context(), name, password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return session
}
