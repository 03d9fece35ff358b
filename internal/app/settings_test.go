package app

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/playground"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

const settingsPath = "/rest/mtbs/1.0/configuration/settings"

// put sends JSON as the administrator.
func put(t *testing.T, a *App, method, path, body string) (int, string) {
	t.Helper()
	return get(t, a.URL()+path, asAdmin, func(r *http.Request) {
		r.Method = method
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
	})
}

// consolePage asks for a page of the console as the administrator, or posts a
// form to it.
func consolePage(t *testing.T, a *App, path string, form url.Values) (int, string) {
	t.Helper()
	session, _, err := a.identity.SignIn(t.Context(), "admin", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return get(t, "http://"+a.Addr()+path, func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		if form != nil {
			r.Method = http.MethodPost
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader(form.Encode()))
		}
	})
}

// forwardProxy is a plain http proxy that wants ana's password and sends
// everything to one host, whatever its name; it says which names it was asked
// for.
func forwardProxy(t *testing.T, target string) (address string, asked chan string) {
	t.Helper()
	asked = make(chan string, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		as := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		if user, password, _ := as.BasicAuth(); user != "ana" || password != "SECRET" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		asked <- r.URL.Host
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		out, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			return
		}
		out.Header.Set("Content-Type", r.Header.Get("Content-Type"))
		resp, err := http.DefaultClient.Do(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
	}))
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	t.Cleanup(proxy.Close)
	return proxy.Listener.Addr().String(), asked
}

// A host that only the proxy knows gets its messages through it.
func TestMessagesGoThroughTheProxyOfTheSettings(t *testing.T) {
	messages := make(chan string, 100)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && r.Method == http.MethodPost {
			messages <- string(body)
		}
	}))
	t.Cleanup(sink.Close)
	proxy, asked := forwardProxy(t, sink.URL)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"chat.invalid"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)

	if status, body := put(t, a, "PUT", settingsPath, `{"proxyUrl":"http://ana:SECRET@`+proxy+`"}`); status != 200 ||
		!strings.Contains(body, `"proxyUrl":"http://ana:••••@`+proxy+`","version":1,"updatedBy":"admin"`) {
		t.Fatalf("saving: %d %s", status, body)
	}
	if status, body := get(t, a.URL()+settingsPath, asAdmin); status != 200 || strings.Contains(body, "SECRET") {
		t.Errorf("reading: %d %s", status, body)
	}
	trial := `{"proxyUrl":"http://%s@` + proxy + `","url":"http://chat.invalid/"}`
	if status, body := put(t, a, "POST", settingsPath+"/test", fmt.Sprintf(trial, "ana:••••")); status != 200 ||
		!strings.Contains(body, "chat.invalid was reached through the proxy "+proxy+".\"") {
		t.Errorf("test with the stored password: %d %s", status, body)
	}
	if host := <-asked; host != "chat.invalid" {
		t.Errorf("the proxy was asked for %s", host)
	}
	if status, body := put(t, a, "POST", settingsPath+"/test", fmt.Sprintf(trial, "ana:wrong")); status != 503 || !strings.Contains(body, "chat.invalid was not reached through the proxy "+proxy+". The log of this server has the reason.") {
		t.Errorf("test with a wrong password: %d %s", status, body)
	}
	if status, body := put(t, a, "POST", settingsPath+"/test", `{"url":"https://10.0.0.1/"}`); status != 400 || !strings.Contains(body, "private network") {
		t.Errorf("test of a private address: %d %s", status, body)
	}

	if _, refusal := saveRule(t, a, "http://chat.invalid/a/b"); refusal != "" {
		t.Fatal(refusal)
	}
	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	for _, s := range samples.Samples() {
		if s.Name == "pull-request-opened" {
			if status, err := platform.Post(t.Context(), s, 1); err != nil || status != http.StatusAccepted {
				t.Fatalf("webhook: %d, %v", status, err)
			}
		}
	}
	if host, message := <-asked, <-messages; host != "chat.invalid" || !strings.Contains(message, "AdaptiveCard") {
		t.Errorf("the proxy was asked for %s, and %s came", host, message)
	}
}

// The page tries what is typed without saving it, and keeps it when it is
// refused.
func TestSettingsPage(t *testing.T) {
	sink := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(sink.Close)
	proxy, _ := forwardProxy(t, sink.URL)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"chat.invalid"}
	a := start(t, cfg)
	page := func(form url.Values) (int, string) { return consolePage(t, a, "/notifications/settings", form) }
	entered := "http://ana:SECRET@" + proxy
	for _, tc := range []struct {
		form url.Values
		want []string
	}{
		{nil, []string{"Proxy URL", "https://hooks.slack.com/"}},
		{url.Values{"do": {"test"}, "proxyUrl": {entered}, "url": {"http://chat.invalid/"}}, []string{"chat.invalid was reached through the proxy " + proxy, entered}},
		{url.Values{"do": {"test"}, "proxyUrl": {"http://" + proxy}, "url": {"http://chat.invalid/"}}, []string{"chat.invalid was not reached through the proxy " + proxy}},
		{url.Values{"do": {"test"}, "proxyUrl": {"ftp://" + proxy}}, []string{"must begin with http://", "ftp://" + proxy}},
		{url.Values{"do": {"test"}, "proxyUrl": {entered}, "url": {"https://10.0.0.1"}}, []string{"private network", entered}},
		{nil, []string{`name="proxyUrl" value=""`}}, // nothing was saved
		{url.Values{"proxyUrl": {entered}, "version": {"0"}}, nil},
		{nil, []string{`value="http://ana:••••@` + proxy, "Saved by admin"}},
		{url.Values{"proxyUrl": {"http://bob:••••@" + proxy}, "version": {"1"}}, []string{"Enter the password again"}},
		{url.Values{"proxyUrl": {""}, "version": {"9"}}, []string{"admin saved the settings in the meantime"}},
	} {
		_, body := page(tc.form)
		for _, text := range tc.want {
			if !strings.Contains(html.UnescapeString(body), text) {
				t.Errorf("%v: %q is missing in %s", tc.form, text, body)
			}
		}
	}
}

func TestSettingsAreForAdministrators(t *testing.T) {
	a := start(t, settings(t))
	if _, err := a.identity.CreateUser(t.Context(), "eve", secret.New("kayak in the harbour")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "eve", identity.ProjectAdmin, identity.Resource{Connection: "dc", Project: "ALPHA"}); err != nil {
		t.Fatal(err)
	}
	asEve := func(r *http.Request) { r.SetBasicAuth("eve", "kayak in the harbour") }
	for method, path := range map[string]string{"GET": settingsPath, "PUT": settingsPath, "POST": settingsPath + "/test"} {
		status, body := get(t, a.URL()+path, asEve, func(r *http.Request) { r.Method = method })
		if status != http.StatusForbidden {
			t.Errorf("%s: %d %s", method, status, body)
		}
	}
}

// A mask that looks like a wildcard is saved, and the form says what it does.
func TestWildcardInTheRuleForm(t *testing.T) {
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)
	rule := func(mask string, types ...string) url.Values {
		return url.Values{
			"name": {"Releases"}, "connection": {"dc"}, "webhookUrl": {"https://chat.example.com/hooks/a"}, "format": {"auto"},
			"eventTypes": types, "branchMask": {mask}, "enabled": {"true"},
		}
	}
	status, body := consolePage(t, a, "/notifications/rules/new", rule("release/*", "REPOSITORY_FORKED"))
	if status != http.StatusBadRequest || !strings.Contains(body, "No event that you chose has a branch") || !strings.Contains(body, "release/*") {
		t.Errorf("a filter of nothing: %d %s", status, body)
	}
	status, body = consolePage(t, a, "/notifications/rules/new", rule("release/*", "BRANCH_UPDATED"))
	if status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	if _, body = consolePage(t, a, "/notifications/rules/1", nil); !strings.Contains(body, `id="f-branchMask-warning"`) || !strings.Contains(body, "write release/.*.") {
		t.Errorf("the form does not warn: %s", body)
	}
}
