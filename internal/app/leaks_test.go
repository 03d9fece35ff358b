package app

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/hook"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/secret"
)

// lockedBuffer takes what several goroutines log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) text() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// echo is a chat platform, a code platform and a proxy that refuses everything
// and shows in its answer what it was asked, as debug pages do, also in the words
// of an OAuth error.
func echo(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		says := fmt.Sprintf("no %s at %s: %s %v", r.Method, r.RequestURI, body, r.Header)
		if strings.HasSuffix(r.URL.Path, "/access_token") {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_request", "error_description": says})
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, says)
	}))
	t.Cleanup(s.Close)
	return s
}

// refusingSmarthost takes no password.
func refusingSmarthost(t *testing.T) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := smarthost.New(smarthost.Options{User: "relay", Password: "another"})
	var serving sync.WaitGroup
	serving.Go(func() { _ = host.Serve(l) })
	t.Cleanup(func() {
		host.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

// After a run with secrets of every kind, among hosts that repeat them in their
// answers, none is in an answer, a page, a metric, the log, the data folder or
// a backup.
func TestEveryRouteShowsNoSecret(t *testing.T) {
	t.Parallel()
	m, log, world := marked{}, &lockedBuffer{}, echo(t)
	key := make([]byte, secret.KeySize)
	_, _ = rand.Read(key) // never fails
	m["secret key"], m["key of the database"] = base64.StdEncoding.EncodeToString(key), string(key)

	cfg := settings(t)
	cfg.SecretKey = secret.New(m["secret key"])
	m["password of the administrator"] = password
	cfg.Log.Level = "debug"
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: world.URL, User: "bot", Token: secret.New(m.make("platform-token")),
		WebhookSecret: secret.New("hook secret"),
	}}
	cfg.Notify.Connections = append(cfg.Notify.Connections, config.Connection{
		Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: world.URL, ClientID: "key", ClientSecret: secret.New(m.make("client-secret")), WebhookSecret: secret.New("hook secret"),
	})
	m["secret of the connection"] = "hook secret"
	cfg.Mail.Smarthost, cfg.Mail.SmarthostTLS = refusingSmarthost(t), "none"
	cfg.Mail.Listen, cfg.Mail.PlainAuth = "0.0.0.0:0", true // clients sign in, without TLS
	cfg.Mail.SmarthostUser, cfg.Mail.SmarthostPassword = "relay", secret.New(m.make("smarthost"))
	cfg.Alerts.WebhookURL, cfg.Alerts.After = secret.New(world.URL+"/alerts?sig="+url.QueryEscape(m.make("alerts"))), 0
	cfg.Threads.Target, cfg.Threads.JiraCloud.URL = config.TargetJiraCloud, world.URL
	cfg.Threads.JiraCloud.User, cfg.Threads.JiraCloud.Token = "bot@example.com", secret.New(m.make("cloud-site-token"))
	a := newApp(t, cfg, Options{Version: "v0", Log: NewLogger(cfg.Log, LogLevel(cfg.Log), log)})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = a.Stop(t.Context())
		}
	}()

	p := &permissionTable{App: a, t: t, url: world.URL + "/invoke?sig=" + url.QueryEscape(m.make("webhook"))}
	p.makeThings()
	p.useSecrets(m, world.URL)
	p.useAccount(m, world.URL)
	p.useCloud(m, world.URL)
	p.useSecondFactor(m)
	p.useCloudSite()
	notUnderstood(t, a)
	awaitOverview(t, a, "The alerts channel", "answered 404")
	session := p.signIn("admin")
	m["session"] = session

	for _, pages := range []bool{false, true} {
		for _, row := range p.patterns(pages) {
			if !strings.HasPrefix(row.text, "GET ") {
				continue
			}
			for _, leak := range m.in(p.read(row.text, session)) {
				t.Errorf("%s shows %s", row.text, leak)
			}
		}
	}
	noneInFiles(t, m, cfg.DataDir) // the database's log included
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	stopped = true
	if !bytes.Contains(log.text(), []byte(`"level":"DEBUG"`)) && !bytes.Contains(log.text(), []byte("level=DEBUG")) {
		t.Error("nothing was logged at debug level")
	}
	for _, leak := range m.in(log.text()) {
		t.Errorf("the log shows %s", leak)
	}
	noneInFiles(t, m, cfg.DataDir)
	for _, leak := range m.in(fmt.Appendf(nil, "%v %+v %#v", *cfg, *cfg, *cfg)) {
		t.Errorf("the printed settings show %s", leak)
	}
}

func noneInFiles(t *testing.T, m marked, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, leak := range m.in(data) {
			t.Errorf("%s has %s", path, leak)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// signInToTheRelay sends mail with a right token, and with a wrong password.
func (p *permissionTable) signInToTheRelay(m marked) {
	p.t.Helper()
	_, port, err := net.SplitHostPort(p.MailAddr())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range []struct {
		password string
		taken    bool
	}{{m["token mail"], true}, {m.make("wrong-password-of-a-sender"), false}} {
		err := smtp.SendMail("127.0.0.1:"+port, smtp.PlainAuth("", "admin", c.password, "127.0.0.1"), "jira@example.com", []string{"ada@example.com"}, []byte("Subject: x\r\n\r\nhello\r\n"))
		if (err == nil) != c.taken {
			p.t.Errorf("signed in with the right token (%t): %v", c.taken, err)
		}
		for _, leak := range m.in(fmt.Append(nil, err)) {
			p.t.Errorf("the relay answers %s", leak)
		}
	}
}

// useSecrets has each kind of secret stored, sent and refused.
func (p *permissionTable) useSecrets(m marked, world string) {
	t := p.t
	t.Helper()
	const outrigger = "/rest/outrigger/1.0"
	made := func(name, path, member, body string) {
		t.Helper()
		status, v := postJSON(t, p.App, path, "admin", body)
		s, _ := v[member].(string)
		if status >= 300 || s == "" {
			t.Fatalf("%s: %d %v", path, status, v)
		}
		m[name] = s
	}
	made("secret of a hook", outrigger+"/connections/main/hooks", "secret", `{"name":"rotated","projectKey":"ATL"}`)
	made("rotated secret", outrigger+"/connections/main/hooks/rotated/rotate", "secret", `{}`)
	made("secret of a stored connection", outrigger+"/connections", "webhookSecret",
		fmt.Sprintf(`{"name":"second","kind":"bitbucket-dc","baseUrl":%q,"user":"bot","token":%q}`, world, m.make("stored-token")))
	made("secret of a cloud connection", outrigger+"/connections", "webhookSecret",
		fmt.Sprintf(`{"name":"cloudy","kind":"bitbucket-cloud","baseUrl":%q,"oauthClientId":"me","oauthClientSecret":%q}`, world, m.make("oauth-client-secret")))
	for _, scope := range identity.Scopes() {
		made("token "+string(scope), outrigger+"/tokens", "token", fmt.Sprintf(`{"name":"the %s","scope":%q}`, scope, scope))
	}
	for _, r := range []struct{ method, path, body string }{
		{"POST", outrigger + "/users", fmt.Sprintf(`{"name":"ada","password":%q}`, m.make("password"))},
		{"POST", outrigger + "/users", fmt.Sprintf(`{"name":"ada lovelace","password":%q}`, m["password"])},
		{"POST", outrigger + "/connections/second/test", "{}"},
		{"POST", outrigger + "/connections/main/test", "{}"},
		{"POST", "/rest/mtbs/1.0/configuration/filter/test", p.ruleBody()},
		{"POST", "/rest/mtbs/1.0/configuration/channels/" + p.known["channel"] + "/retry?which=all", "{}"},
		{"POST", "/rest/mtbs/1.0/configuration/channels/" + p.known["channel"] + "/test", "{}"},
		{"PUT", "/rest/mtbs/1.0/configuration/settings", fmt.Sprintf(`{"proxyUrl":"http://ana:%s@%s"}`, url.QueryEscape(m.make("proxy")), strings.TrimPrefix(world, "http://"))},
		{"POST", "/rest/mtbs/1.0/configuration/settings/test", `{"url":"` + p.url + `"}`},
		{"POST", "/rest/mtbs/1.0/configuration/filter/test", p.ruleBody()},
	} {
		status, answer := put(t, p.App, r.method, r.path, r.body)
		if status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden {
			t.Errorf("%s %s: %d %s", r.method, r.path, status, answer)
		}
		for _, leak := range m.in([]byte(answer)) {
			t.Errorf("%s %s answers %s", r.method, r.path, leak)
		}
	}
	if status := postAs(t, p.App, "/hooks/main/builds/projects/ATL/repos/canoe/commits/"+p.known["commit"], `{"key":"K","state":"FAILED","name":"b","url":"https://ci.example.com/1"}`,
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+m["token builds"]) }); status != http.StatusAccepted {
		t.Errorf("the build: %d", status)
	}
	for _, signature := range []string{"secret of a hook", "rotated secret"} { // a grace of 7 days: both are taken
		body := `{"eventKey":"repo:forked","note":"` + signature + `","repository":{"slug":"canoe","project":{"key":"ATL"}}}`
		status := postAs(t, p.App, "/hooks/main/rotated", body, func(r *http.Request) {
			r.Header.Set(hook.SignatureHeader, hook.Sign([]byte(body), secret.New(m[signature])))
		})
		if status != http.StatusAccepted && status != http.StatusBadRequest {
			t.Errorf("signed with the %s: %d", signature, status)
		}
	}
	p.signInToTheRelay(m) // it signs in to the smarthost with the mail
	eventually(t, func() bool {
		_, body := get(t, p.URL()+"/rest/mtbs/1.0/configuration/deliveries/"+p.known["delivery"], asAdmin)
		return strings.Contains(body, "no POST at")
	})
}

// useAccount has an account of a cloud platform authorised, whose tokens the
// platform refuses, and a request for another one made and answered.
func (p *permissionTable) useAccount(m marked, world string) {
	t := p.t
	t.Helper()
	tokens := notify.AccountTokens{Access: secret.New(m.make("access-token")), Refresh: secret.New(m.make("refresh-token")), Expires: time.Now().Add(time.Hour)}
	a, err := p.chat.store.SaveAuthorization(t.Context(), notify.Actor{Name: "admin"}, notify.Authorization{
		Connection: "cloud", AccountID: "{a}", AccountName: "Ana", BaseURL: world, UserID: 1, RefreshedAt: time.Now(), DueAt: time.Now(),
	}, tokens)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.chat.accounts.Use(t.Context(), a.ID, func(c *notify.Connection, token secret.Value) error {
		_, err := p.chat.cloud.User(t.Context(), c, token)
		return err
	}); err == nil {
		t.Error("the platform took the token")
	}
	session := p.signIn("admin")
	as := func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	}
	who, err := p.identity.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.chat.store.KeepRequest(t.Context(), notify.AuthorizationRequest{
		State: secret.New(m.make("state")), Connection: "cloud", UserID: who.UserID, Session: who.Session, Verifier: secret.New(m.make("verifier")),
		Back: "/", MadeAt: time.Now(), ExpiresAt: time.Now().Add(time.Minute),
	}); err != nil {
		t.Fatal(err)
	}
	callback := p.URL() + "/oauth/cloud?" + url.Values{"state": {m["state"]}, "code": {m.make("code")}}.Encode()
	status, body := get(t, callback, as)
	if status != http.StatusServiceUnavailable && status != http.StatusConflict {
		t.Errorf("the callback: %d %s", status, body)
	}
	for _, leak := range m.in([]byte(body)) {
		t.Errorf("the callback shows %s", leak)
	}
}

// useCloud has a rule of the cloud edition and a report ask the platform, for
// people and in the background, also for new tokens, in vain each time.
func (p *permissionTable) useCloud(m marked, world string) {
	t := p.t
	t.Helper()
	tokens := notify.AccountTokens{Access: secret.New(m.make("old-access-token")), Refresh: secret.New(m.make("used-refresh-token")), Expires: time.Now()}
	a, err := p.chat.store.SaveAuthorization(t.Context(), notify.Actor{Name: "admin"}, notify.Authorization{
		Connection: "cloud", AccountID: "{b}", AccountName: "Ben", BaseURL: world, UserID: 1, RefreshedAt: time.Now(), DueAt: time.Now().Add(time.Hour),
	}, tokens)
	if err != nil {
		t.Fatal(err)
	}
	const reports, rules = "/rest/mtbs/1.0/configuration/reports", "/rest/mtbs/1.0/cloud/ATL/canoe/rules"
	report := strings.Replace(p.reportBody(), `"connection":"main"`, `"connection":"cloud"`, 1)
	rule := fmt.Sprintf(`{"name":"runs","expectedEvents":["PIPELINE_FAILED"],"webhookUrl":%q}`, p.url)
	status, made := postJSON(t, p.App, reports, "admin", report)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, made)
	}
	for _, r := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", reports + fmt.Sprintf("/%v/view", made["id"]), "", 503},
		{"POST", reports + "/test", report, 503},
		{"POST", rules + "?connection=cloud", rule, 503},
		{"POST", rules + "/test?connection=cloud", rule, 200},
		{"POST", rules + "/try?connection=cloud", rule, 200},
	} {
		status, answer := put(t, p.App, r.method, r.path, r.body)
		if status != r.want {
			t.Errorf("%s %s: %d %s", r.method, r.path, status, answer)
		}
		for _, leak := range m.in([]byte(answer)) {
			t.Errorf("%s %s answers %s", r.method, r.path, leak)
		}
	}
	if now, err := p.chat.store.Authorization(t.Context(), a.ID); err != nil || !strings.Contains(now.Reason, "grant_type=refresh_token") {
		t.Errorf("the platform was not asked for new tokens: %q, %v", now.Reason, err)
	}
	if err := p.db.Write(t.Context(), func(tx *db.Tx) error {
		due := time.Now().UTC().Add(-time.Minute).Truncate(time.Minute)
		_, err := tx.Exec(t.Context(), `UPDATE notify_reports SET next_run_at = $1, ask_at = $1, time = $2 WHERE connection = 'cloud'`, db.Micros(due), due.Format("15:04"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	p.chat.reports.Wake()
	eventually(t, func() bool {
		_, body := get(t, p.URL()+reports+fmt.Sprintf("?id=%v", made["id"]), asAdmin)
		return strings.Contains(body, "retryingSince")
	})
}

// read returns what a GET answers, as far as it comes within 0.3 s: live answers
// do not end.
func (p *permissionTable) read(pattern, session string) []byte {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.Addr()+p.path(pattern)+p.query(pattern), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Close = true
	if strings.HasPrefix(pattern, "GET /rest/") || pattern == "GET /metrics" {
		asAdmin(r)
	} else {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		p.t.Fatalf("%s: %v", pattern, err)
	}
	end := time.AfterFunc(300*time.Millisecond, func() { resp.Body.Close() })
	defer end.Stop()
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return body
}
