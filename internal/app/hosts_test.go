package app

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// browser sends requests to a process under any host name, and keeps cookies
// itself.
type browser struct {
	t      *testing.T
	client *http.Client
	url    string
	cookie string
}

func newBrowser(t *testing.T, a *App, roots *x509.CertPool) *browser {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}
	t.Cleanup(transport.CloseIdleConnections)
	scheme := "http"
	if roots != nil {
		scheme = "https"
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &browser{t, &http.Client{Transport: transport, CheckRedirect: stay}, scheme + "://" + a.Addr(), ""}
}

// send returns the answer to a request with headers in pairs; Host is one.
func (b *browser) send(method, path, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, string(text)
}

// signIn signs the administrator in and keeps the session's cookie.
func (b *browser) signIn(headers ...string) *http.Cookie {
	b.t.Helper()
	b.cookie = ""
	form := url.Values{"user": {"admin"}, "password": {password}}.Encode()
	resp, body := b.send("POST", "/sign-in", form, headers...)
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		b.t.Fatalf("signing in: %d %v %s", resp.StatusCode, resp.Cookies(), body)
	}
	c := resp.Cookies()[0]
	b.cookie = c.Name + "=" + c.Value
	return c
}

func TestOnlyOurHostsArePages(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.BaseURL = "http://tools.example.com:8090"
	cfg.AllowedHosts = []string{"Alias.example.com"}
	b := newBrowser(t, start(t, cfg), nil)
	b.signIn()
	const basic = "Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ=="
	for _, c := range []struct {
		host, path string
		headers    []string
		status     int
	}{
		{"tools.example.com:8090", "/", nil, 200},
		{"TOOLS.example.com.", "/", nil, 200},
		{"alias.example.com:1", "/", nil, 200},
		{"localhost:8090", "/", nil, 200},
		{"127.0.0.1:8090", "/", nil, 200},
		{"10.1.2.3", "/", nil, 200},
		{"[::1]:8090", "/", nil, 200},
		{"evil.example.com:8090", "/", nil, 421},
		{"tools.example.com.evil.example", "/", nil, 421},
		{"127.0.0.1.evil.example", "/sign-in", nil, 421},
		{"evil.example.com", "/nowhere", nil, 421},
		{"evil.example.com", "/rest/outrigger/1.0/users", nil, 421},
		{"evil.example.com", "/rest/openapi.yaml", nil, 421},
		{"evil.example.com", "/rest/outrigger/1.0/users", []string{"Authorization", basic}, 200},
		{"evil.example.com", "/rest/outrigger/1.0/users", []string{"Authorization", "Basic eDp5"}, 401},
		{"evil.example.com", "/hooks/unknown", nil, 405},
		{"evil.example.com", "/hooksters", nil, 421},
		{"evil.example.com", "/healthz", nil, 200},
		{"evil.example.com", "/readyz", nil, 200},
		{"evil.example.com", "/metrics", []string{"Authorization", basic}, 200},
	} {
		resp, body := b.send("GET", c.path, "", append(c.headers, "Host", c.host)...)
		if resp.StatusCode != c.status {
			t.Errorf("%s%s: %d, want %d", c.host, c.path, resp.StatusCode, c.status)
		}
		if page := !strings.HasPrefix(c.path, "/rest"); c.status == 421 && page == strings.HasPrefix(body, "{") {
			t.Errorf("%s: a page says it as JSON, or REST does not: %s", c.path, body)
		}
		if c.status == 421 && !strings.Contains(body, "allowed_hosts in the configuration file") {
			t.Errorf("%s%s does not say what to do: %s", c.host, c.path, body)
		}
		if len(resp.Cookies()) > 0 {
			t.Errorf("%s%s sets cookies", c.host, c.path)
		}
	}
	if resp, _ := b.send("POST", "/sign-in", "user=admin&password=x", "Host", "evil.example.com"); resp.StatusCode != 421 {
		t.Errorf("signing in under another name: %d", resp.StatusCode)
	}
}

func TestHTTPSIsKept(t *testing.T) {
	files := tlsFiles(t)
	writeCertificate(t, files, "ours", time.Now())
	pem, err := os.ReadFile(files.Cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	for name, c := range map[string]struct {
		edit   func(*config.Config)
		tls    bool
		by     []string // headers of a proxy
		https  bool
		hsts   bool
		cookie string
	}{
		"our own":        {func(c *config.Config) { c.TLS = files; c.HSTS = true }, true, nil, true, true, "__Host-outrigger_session"},
		"our own, quiet": {func(c *config.Config) { c.TLS = files }, true, nil, true, false, "__Host-outrigger_session"},
		"a trusted proxy's": {func(c *config.Config) { c.TrustedProxies = []string{"127.0.0.0/8"}; c.HSTS = true }, false,
			[]string{"X-Forwarded-Proto", "http, https"}, true, true, "__Host-outrigger_session"},
		"a proxy's that nobody trusts": {func(c *config.Config) { c.HSTS = true }, false,
			[]string{"X-Forwarded-Proto", "https"}, false, false, "outrigger_session"},
		"a trusted proxy without": {func(c *config.Config) { c.TrustedProxies = []string{"127.0.0.0/8"}; c.HSTS = true }, false,
			[]string{"X-Forwarded-Proto", "https, http"}, false, false, "outrigger_session"},
		"none": {func(c *config.Config) { c.HSTS = true }, false, nil, false, false, "outrigger_session"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			c.edit(cfg)
			var ca *x509.CertPool
			if c.tls {
				ca = roots
			}
			b := newBrowser(t, start(t, cfg), ca)
			cookie := b.signIn(c.by...)
			if cookie.Name != c.cookie || cookie.Secure != c.https || cookie.Path != "/" || cookie.Domain != "" || !cookie.HttpOnly {
				t.Errorf("the cookie is %v", cookie)
			}
			resp, _ := b.send("GET", "/", "", c.by...)
			if resp.StatusCode != 200 {
				t.Errorf("with it: %d", resp.StatusCode)
			}
			if got := resp.Header.Get("Strict-Transport-Security") != ""; got != c.hsts {
				t.Errorf("Strict-Transport-Security is there: %v", got)
			}
			own, foreign := "http", "https"
			if c.https {
				own, foreign = foreign, own
			}
			for origin, want := range map[string]int{own: 404, foreign: 403} {
				by := append([]string{"Host", "localhost", "Origin", origin + "://localhost"}, c.by...)
				resp, body := b.send("DELETE", "/rest/outrigger/1.0/users/none", "", by...)
				if resp.StatusCode != want {
					t.Errorf("a write from %s: %d %s", origin, resp.StatusCode, body)
				}
				resp, _ = b.send("POST", "/sign-out", "x=y", by...)
				if refused := resp.StatusCode == 403; refused != (want == 403) {
					t.Errorf("a form from %s: %d", origin, resp.StatusCode)
				}
				b.signIn(c.by...)
			}
		})
	}
}

func TestMetricsAreForMonitors(t *testing.T) {
	a := start(t, settings(t))
	ctx := identity.With(t.Context(), &identity.Principal{Name: "test", Source: identity.Local, Grants: []identity.Grant{{Permission: identity.SysAdmin}}})
	if _, err := a.identity.CreateUser(ctx, "ann", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	token := func(user string, scope identity.Scope) string {
		plain, _, err := a.identity.CreateToken(ctx, user, "t "+string(scope), scope, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return plain.Reveal()
	}
	b := newBrowser(t, a, nil)
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"nobody":                     {"", 401},
		"a user without a grant":     {token("ann", identity.All), 403},
		"the same, reading":          {token("ann", identity.Read), 403},
		"a monitor":                  {token("ann", identity.Monitoring), 200},
		"an administrator":           {token("admin", identity.All), 200},
		"an administrator's monitor": {token("admin", identity.Monitoring), 200},
		"an administrator's builds":  {token("admin", identity.Builds), 403},
	} {
		var headers []string
		if c.token != "" {
			headers = []string{"Authorization", "Bearer " + c.token}
		}
		if resp, _ := b.send("GET", "/metrics", "", headers...); resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.status)
		}
	}
}
