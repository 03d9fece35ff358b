package app

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/reload"
	"outrigger/internal/secret"
)

// reloadable is a process whose settings a test changes while it runs.
type reloadable struct {
	*App
	mu    sync.Mutex
	fresh config.Config
	err   error
	level *slog.LevelVar
}

func startReloadable(t *testing.T) *reloadable {
	t.Helper()
	cfg := withPublicMetrics(settings(t))
	files := tlsFiles(t)
	writeCertificate(t, files, "first", time.Now())
	cfg.Mail.TLS = config.MailTLS(files)
	cfg.Notify.Connections = []config.Connection{connectionNamed("main", "hook secret"), connectionNamed("old", "hook secret")}
	r := &reloadable{fresh: *cfg, level: new(slog.LevelVar)}
	r.App = startWith(t, cfg, Options{NewDatabase: true, Level: r.level, Reload: func() (*config.Config, []string, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		c := r.fresh
		return &c, nil, r.err
	}})
	return r
}

func connectionNamed(name, signedWith string) config.Connection {
	return config.Connection{
		Name: name, Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New(signedWith),
	}
}

// edit changes the settings as their file has them.
func (r *reloadable) edit(f func(*config.Config)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.fresh)
}

// reload asks for a reload, which must succeed.
func (r *reloadable) reload(t *testing.T) (report reload.Reload) {
	t.Helper()
	status, body := put(t, r.App, "POST", reload.Path, "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if strings.Contains(body, "new secret") {
		t.Errorf("the answer has a secret: %s", body)
	}
	if err := json.Unmarshal([]byte(body), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// audited counts the entries about reloads.
func (r *reloadable) audited(t *testing.T) int {
	t.Helper()
	_, body := get(t, r.URL()+"/rest/outrigger/1.0/audit?area=system&action=reload", asAdmin)
	if strings.Contains(body, "new secret") {
		t.Errorf("the audit trail has a secret: %s", body)
	}
	return strings.Count(body, `"action":"reload"`)
}

// signs returns the status of a webhook of a connection, signed with a secret.
func (r *reloadable) signs(t *testing.T, connection, signedWith string) int {
	t.Helper()
	return hookStatus(t, r.App, connection, signedWith, "repo:forked", `{"eventKey":"repo:forked"}`)
}

// What a running server can take on holds with the answer, which names the rest; a
// reload without a change does nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	r := startReloadable(t)
	writeCertificate(t, config.TLS(r.cfg.Mail.TLS), "second", time.Now().Add(24*time.Hour))
	if _, err := r.certificates[0].get(nil); err != nil { // a client's greeting, before the reload
		t.Fatal(err)
	}
	r.edit(func(c *config.Config) {
		c.Log.Level, c.TrustedProxies, c.Retention.Audit, c.HSTS = "debug", []string{"127.0.0.0/8"}, 2*c.Retention.Audit, true
		c.Notify.Connections = []config.Connection{connectionNamed("main", "new secret"), connectionNamed("new", "new secret")}
	})
	got := r.reload(t)
	want := []config.ChangedSetting{
		{Setting: "trusted_proxies", Text: "none, now 127.0.0.0/8"},
		{Setting: "log.level", Text: "info, now debug"},
		{Setting: "notify.connections", Text: "main: webhook_secret changed; new added; old removed"},
	}
	if !slices.Equal(got.Changed, want) {
		t.Errorf("changed: %q", got.Changed)
	}
	if !slices.Equal(got.NeedRestart, []string{"hsts", "retention.audit"}) {
		t.Errorf("need a restart: %q", got.NeedRestart)
	}
	if len(got.Certificates) != 1 || !got.Certificates[0].Changed || got.Node != "n1" {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		connection, secret string
		want               int
	}{{"main", "new secret", 202}, {"main", "hook secret", 401}, {"new", "new secret", 202}, {"old", "hook secret", 404}} {
		if status := r.signs(t, c.connection, c.secret); status != c.want {
			t.Errorf("a webhook of %s signed with the %s: %d, want %d", c.connection, c.secret, status, c.want)
		}
	}
	if r.level.Level() != slog.LevelDebug {
		t.Errorf("it logs from %v on", r.level.Level())
	}
	get(t, r.URL()+"/sign-in", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "198.51.100.1") })
	if _, page := consolePage(t, r.App, "/", nil); strings.Contains(page, "is not in trusted_proxies") {
		t.Error("the proxy is not trusted")
	}
	if again := r.reload(t); len(again.Changed) > 0 || again.Certificates[0].Changed {
		t.Errorf("a second reload changed %+v", again)
	}
	if n := r.audited(t); n != 1 {
		t.Errorf("%d entries in the audit trail", n)
	}
}

// Where one of the files cannot be used, nothing of the others is taken on.
func TestReloadOfWhatIsBroken(t *testing.T) {
	t.Parallel()
	r := startReloadable(t)
	r.edit(func(c *config.Config) {
		c.Log.Level, c.TrustedProxies = "debug", []string{"127.0.0.0/8"}
		c.Notify.Connections = []config.Connection{connectionNamed("main", "new secret")}
		r.err = errors.Join(errors.New("retention.audit: too short"), errors.New("line 7: unknown key"))
	})
	refused := func(reasons ...string) {
		t.Helper()
		status, body := put(t, r.App, "POST", reload.Path, "")
		if status != http.StatusConflict {
			t.Fatalf("%d %s", status, body)
		}
		for _, reason := range append(reasons, "nothing has changed") {
			if !strings.Contains(body, reason) {
				t.Errorf("it does not say %q: %s", reason, body)
			}
		}
		accepts := r.signs(t, "main", "hook secret") < 300 && r.signs(t, "old", "hook secret") < 300
		if !accepts || r.level.Level() != slog.LevelInfo || r.audited(t) != 0 {
			t.Error("something has changed")
		}
	}
	refused("retention.audit: too short; line 7: unknown key")
	r.edit(func(*config.Config) { r.err = nil })
	if err := os.WriteFile(r.cfg.Mail.TLS.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("mail.tls.cert and mail.tls.key")
}

// Of reloads at once, one takes on what changed, and the others find nothing.
func TestReloadsAtOnce(t *testing.T) {
	t.Parallel()
	r := startReloadable(t)
	r.edit(func(c *config.Config) {
		c.Notify.Connections = []config.Connection{connectionNamed("main", "new secret")}
	})
	const callers = 8
	changed := make(chan int, callers)
	for range callers {
		go func() {
			report, err := r.Reload(t.Context())
			if err != nil {
				t.Error(err)
			}
			changed <- len(report.Changed)
		}()
	}
	total := 0
	for range callers {
		total += <-changed
	}
	if n := r.audited(t); total != 1 || n != 1 {
		t.Errorf("%d reloads report the change, and %d entries are in the audit trail", total, n)
	}
	if status := r.signs(t, "main", "new secret"); status != http.StatusAccepted {
		t.Errorf("a webhook with the new secret: %d", status)
	}
}
