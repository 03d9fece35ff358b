package app

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/played"
	"outrigger/internal/secret"
)

// front is what users reach: it hands on to one of the nodes behind it.
type front struct {
	url  string
	node atomic.Pointer[App]
}

func newFront(t *testing.T) *front {
	f := new(front)
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", f.node.Load().addr.String()
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	})
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// world is a provider, and what users reach.
type signOnWorld struct {
	*front
	t        *testing.T
	provider *openid.Provider
	clock    *steered
	cfg      *config.Config
}

func newSignOnWorld(t *testing.T, change ...func(*config.Config)) *signOnWorld {
	t.Helper()
	w := &signOnWorld{front: newFront(t), t: t, clock: new(steered), cfg: settings(t)}
	w.provider = openid.New(openid.Options{Clock: w.clock.now, Accounts: []openid.Account{
		{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "groups": []string{"devs", "outrigger-admins"}}},
		{Subject: "s-bob", Claims: map[string]any{"preferred_username": "bob", "groups": []string{"devs"}}},
	}})
	server := httptest.NewServer(w.provider.Handler())
	t.Cleanup(server.Close)
	w.provider.SetClient(openid.Client{ID: "outrigger", Secret: "client secret", Callback: w.url + "/sign-in/oidc/callback"})
	w.cfg.BaseURL = w.url
	o := &w.cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret, o.Name = server.URL, "outrigger", secret.New("client secret"), "the company"
	o.GroupsClaim, o.AdminGroups = "groups", []string{"outrigger-admins"}
	for _, c := range change {
		c(w.cfg)
	}
	return w
}

// run starts a node and has the front hand on to it.
func (w *signOnWorld) run(cfg *config.Config) *App {
	w.t.Helper()
	a, err := New(cfg, Options{Version: "v0", Clock: w.clock.now})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := a.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	w.node.Store(a)
	return a
}

// visitor is a browser that has not signed in.
func (w *signOnWorld) visitor() *person {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &person{http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, w.t, w.node.Load()}
}

// leave goes to the provider, and gives its address.
func (w *signOnWorld) leave(b *person, to string) string {
	w.t.Helper()
	status, at, body := b.send("GET", w.url+"/sign-in/oidc?to="+url.QueryEscape(to), nil)
	if status != 200 || at.Path != "/authorize" {
		w.t.Fatalf("%d %s: %s", status, at, body)
	}
	return at.String()
}

// callback answers the provider's page, and gives where the browser is sent.
func (w *signOnWorld) callback(b *person, location, account string) string {
	w.t.Helper()
	still := *b
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := still.PostForm(location, url.Values{"account": {account}, "answer": {"yes"}})
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

// signIn does all of it.
func (w *signOnWorld) signIn(b *person, account, to string) (int, *url.URL, string) {
	w.t.Helper()
	return b.send("GET", w.callback(b, w.leave(b, to), account), nil)
}

// signedIn tells who the browser is; "" for a visitor.
func (w *signOnWorld) signedIn(b *person) string {
	w.t.Helper()
	_, at, body := b.send("GET", w.url+"/account/tokens", nil)
	if strings.HasSuffix(at.Path, "/sign-in") {
		return ""
	}
	for _, name := range []string{"ann", "bob", "anna"} {
		if strings.Contains(body, ">"+name+"<") {
			return name
		}
	}
	w.t.Fatalf("who is it? %s", body)
	return ""
}

// A user signs in with the provider, and is there by a source and a name, with what
// groups give; the audit trail says how.
func TestSingleSignOn(t *testing.T) {
	for name, database := range map[string]func(*config.Config){
		"sqlite":   func(*config.Config) {},
		"postgres": func(c *config.Config) { c.DatabaseURL = secret.New(dbtest.PostgresURL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newSignOnWorld(t, database)
			a := w.run(w.cfg)
			b := w.visitor()
			if _, _, body := b.send("GET", w.url+"/sign-in?to=/account/tokens", nil); !strings.Contains(body, `href="/sign-in/oidc?to=%2Faccount%2Ftokens">Sign in with the company</a>`) {
				t.Errorf("the page has no button: %s", body)
			}
			if status, at, body := w.signIn(b, "s-ann", "/notifications/rules?x=1"); status != 200 || at.Path != "/notifications/rules" || at.RawQuery != "x=1" {
				t.Fatalf("%d %s: %s", status, at, body)
			}
			if status, _, _ := b.send("GET", w.url+"/system/users", nil); status != 403 {
				t.Errorf("a group gives SYS_ADMIN: %d", status)
			}
			users, err := a.identity.Users(t.Context(), "", 10)
			if err != nil || len(users) != 2 || users[1].Ref() != "oidc:ann" {
				t.Fatalf("%+v, %v", users, err)
			}
			if _, trail := get(t, a.URL()+"/rest/outrigger/1.0/audit?area=identity", asAdmin); !strings.Contains(trail, `"way":"oidc"`) || !strings.Contains(trail, `"source":"oidc"`) {
				t.Errorf("the audit trail says %s", trail)
			}
			if _, page := get(t, a.URL()+"/rest/outrigger/1.0/users/oidc:ann", asAdmin); !strings.Contains(page, `"source":"oidc"`) {
				t.Errorf("%s", page)
			}
			for _, page := range []string{"/system/users", "/system/users/named/oidc:ann"} {
				if _, _, body := newPerson(t, a, "admin").send("GET", page, nil); !strings.Contains(body, "single sign-on") || !strings.Contains(body, "through the group outrigger-admins of single sign-on until") {
					t.Errorf("%s: %s", page, body)
				}
			}
			token, _, err := a.identity.CreateToken(t.Context(), "oidc:ann", "ci", identity.All, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			settings := func(want int, when string) {
				t.Helper()
				bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }
				if status, body := get(t, a.URL()+"/rest/mtbs/1.0/configuration/filter", bearer); status != want {
					t.Errorf("%s: %d %s", when, status, body)
				}
			}
			settings(200, "her token")

			// What a group gave ends with the next sign-in without it, everywhere.
			w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "groups": "devs"}})
			if status, _, _ := w.signIn(w.visitor(), "s-ann", "/"); status != 200 {
				t.Error(status)
			}
			settings(403, "her token, out of the group")
			w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}, Info: map[string]any{"groups": []any{"outrigger-admins", 7}}})
			if status, _, _ := w.signIn(w.visitor(), "s-ann", "/"); status != 200 {
				t.Error(status)
			}
			settings(200, "in the group again, by userinfo")
			w.clock.move(7 * 24 * time.Hour)
			settings(403, "a week later")

			// A renamed account stays the user, and another of its name is nobody.
			w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "anna"}})
			b = w.visitor()
			if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "anna" {
				t.Error(body)
			}
			w.provider.SetAccount(openid.Account{Subject: "s-bob", Claims: map[string]any{"preferred_username": "anna"}})
			if status, _, body := w.signIn(w.visitor(), "s-bob", "/"); status != 401 || !strings.Contains(body, "belongs to another account") {
				t.Errorf("another account of her name: %d %s", status, body)
			}
			if err := a.identity.DisableUser(t.Context(), "oidc:anna"); err != nil {
				t.Fatal(err)
			}
			if status, _, body := w.signIn(w.visitor(), "s-ann", "/"); status != 401 || !strings.Contains(body, "is disabled in Outrigger") || !strings.Contains(body, `name="password"`) {
				t.Errorf("disabled: %d %s", status, body)
			}
			if who := w.signedIn(b); who != "" {
				t.Errorf("disabled, and still %s", who)
			}
		})
	}
}

// A sign-in that was begun on one node is completed on another, and after a
// restart.
func TestSingleSignOnAcrossNodes(t *testing.T) {
	t.Run("two nodes", func(t *testing.T) {
		w := newSignOnWorld(t)
		database, key := secret.New(dbtest.PostgresURL(t)), secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
		node := func(id string) *config.Config {
			cfg := *w.cfg
			cfg.NodeID, cfg.DatabaseURL, cfg.SecretKey, cfg.Cluster.Enabled, cfg.DataDir = id, database, key, true, t.TempDir()
			return &cfg
		}
		w.run(node("one"))
		b := w.visitor()
		location := w.leave(b, "/")
		w.run(node("two"))
		if status, at, body := b.send("GET", w.callback(b, location, "s-ann"), nil); status != 200 || at.Path != "/" || w.signedIn(b) != "ann" {
			t.Errorf("%d %s: %s", status, at, body)
		}
	})
	t.Run("a restart", func(t *testing.T) {
		w := newSignOnWorld(t)
		one := w.run(w.cfg)
		b := w.visitor()
		location := w.leave(b, "/")
		if err := one.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.run(w.cfg)
		if status, at, body := b.send("GET", w.callback(b, location, "s-ann"), nil); status != 200 || at.Path != "/" || w.signedIn(b) != "ann" {
			t.Errorf("%d %s: %s", status, at, body)
		}
	})
}

// A provider that lies or fails signs nobody in, and its words are on no page.
func TestLyingProviders(t *testing.T) {
	w := newSignOnWorld(t)
	a := w.run(w.cfg)
	fail := func(name string, wantStatus int, sent string) {
		t.Helper()
		b := w.visitor()
		location := ""
		if sent == "" {
			location = w.callback(b, w.leave(b, "/"), "s-ann")
		} else {
			location = w.url + sent
		}
		status, at, body := b.send("GET", location, nil)
		if status != wantStatus || !strings.HasPrefix(at.Path, "/sign-in/oidc") || !strings.Contains(body, `name="password"`) {
			t.Errorf("%s: %d %s: %s", name, status, at, body)
		}
		if strings.Contains(body, "evil.example") || strings.Contains(body, "<script>alert") {
			t.Errorf("%s: the provider's words are shown: %s", name, body)
		}
		if w.signedIn(b) != "" {
			t.Errorf("%s: signed in", name)
		}
	}
	for _, lie := range []openid.Lie{
		openid.WrongNonce, openid.NoNonce, openid.WrongAudience, openid.WrongIssuer, openid.OtherParty, openid.ManyAudiences, openid.Expired, openid.NotYet,
		openid.Unsigned, openid.SignedBySecret, openid.OtherKey, openid.UnknownKey, openid.Altered, openid.NoIDToken, openid.NotAToken, openid.NoSubject, openid.WrongAccessHash,
	} {
		w.provider.SetLie(lie)
		fail(string(lie), 401, "")
	}
	w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}})
	w.provider.SetLie(openid.OtherUserInfo)
	fail(string(openid.OtherUserInfo), 401, "")
	w.provider.SetLie("")
	for kind, status := range map[played.Kind]int{
		played.Broken: 503, played.Proxied: 503, played.Garbling: 503, played.Chattering: 503, played.Redirecting: 503, played.Dropping: 503, played.Missing: 401,
		played.Refusing: 401, played.Throttling: 503,
	} {
		w.provider.SetFault("POST /token", played.Fault{Kind: kind})
		fail("token "+string(kind), status, "")
	}
	w.provider.SetFault("POST /token", played.Fault{})
	for _, refusal := range []string{"access_denied", "server_error", "<script>alert(1)</script>"} {
		w.provider.SetRefusal(refusal)
		b := w.visitor()
		status, at, body := b.send("GET", w.url+"/sign-in/oidc", nil)
		if status != 401 || at.Path != "/sign-in/oidc/callback" || !strings.Contains(body, `name="password"`) || strings.Contains(body, "evil.example") || strings.Contains(body, "<script>alert") {
			t.Errorf("%s: %d %s: %s", refusal, status, at, body)
		}
	}
	w.provider.SetRefusal("")
	for _, claims := range []map[string]any{
		{}, {"preferred_username": ""}, {"preferred_username": 7}, {"preferred_username": nil}, {"preferred_username": "local:admin"}, {"preferred_username": " ann"},
		{"preferred_username": "a\x00b"}, {"preferred_username": strings.Repeat("a", 256)}, {"preferred_username": "аdmin"}, // its first letter is Cyrillic
	} {
		w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: claims})
		fail("claims", 401, "")
	}
	w.clock.move(time.Hour) // the configuration is asked for again, and the one before stays
	w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}})
	w.provider.SetFault("openid-configuration", played.Fault{Kind: played.Broken})
	b := w.visitor()
	if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
		t.Errorf("after all of that: %s", body)
	}
	if users, err := a.identity.Users(t.Context(), "", 10); err != nil || len(users) != 2 {
		t.Errorf("%+v, %v", users, err)
	}
}

// A provider that is away when the server starts stops nobody, and works when it is
// back.
func TestProviderThatIsAway(t *testing.T) {
	w := newSignOnWorld(t)
	w.run(w.cfg)
	for _, kind := range []played.Kind{played.Broken, played.Dropping, played.Proxied, played.Garbling, played.Chattering, played.Redirecting} {
		w.provider.SetFault("", played.Fault{Kind: kind})
		w.clock.move(5 * time.Second)
		status, at, body := w.visitor().send("GET", w.url+"/sign-in/oidc", nil)
		if status != 503 || at.Path != "/sign-in/oidc" || !strings.Contains(body, "No usable answer comes from the company.") || !strings.Contains(body, `name="password"`) || strings.Contains(body, "evil.example") {
			t.Errorf("%s: %d %s: %s", kind, status, at, body)
		}
	}
	w.provider.SetFault("", played.Fault{})
	asked := w.provider.Asked("openid-configuration")
	if status, _, _ := w.visitor().send("GET", w.url+"/sign-in/oidc", nil); status != 503 || w.provider.Asked("openid-configuration") != asked {
		t.Errorf("asked again at once: %d", status)
	}
	for _, lie := range []openid.Lie{openid.OtherDiscovery, openid.NoKeys} {
		w.provider.SetLie(lie)
		w.clock.move(5 * time.Second)
		if status, _, body := w.visitor().send("GET", w.url+"/sign-in/oidc", nil); status != 503 {
			t.Errorf("%s: %d %s", lie, status, body)
		}
	}
	w.provider.SetLie(openid.PlainEndpoints)
	w.clock.move(5 * time.Second)
	b := w.visitor()
	if status, _, body := w.signIn(b, "s-ann", "/"); status != 503 || w.signedIn(b) != "" {
		t.Errorf("an endpoint of another machine's: %d %s", status, body)
	}
	w.provider.SetLie("")
	w.clock.move(time.Hour)
	if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
		t.Errorf("back again: %s", body)
	}
	w.provider.RotateKey()
	if _, _, body := w.signIn(w.visitor(), "s-ann", "/"); !strings.Contains(body, "ann") {
		t.Errorf("with a new key: %s", body)
	}
}

// What comes to the callback signs in the browser that began, once, within ten
// minutes, and leads to a page of ours.
func TestCallbackIsForOneBrowserOnce(t *testing.T) {
	w := newSignOnWorld(t)
	w.run(w.cfg)
	refused := func(name string, b *person, location string) {
		t.Helper()
		status, at, body := b.send("GET", location, nil)
		if status != 400 || !strings.Contains(body, "was not begun in this browser") || !strings.Contains(body, `name="password"`) {
			t.Errorf("%s: %d %s: %s", name, status, at, body)
		}
		if who := w.signedIn(b); who != "" {
			t.Errorf("%s: signed in as %s", name, who)
		}
	}
	attacker, victim := w.visitor(), w.visitor()
	stolen := w.callback(attacker, w.leave(attacker, "/"), "s-bob")
	refused("another browser", victim, stolen)
	w.leave(victim, "/") // with a cookie of its own
	refused("another browser that signs in too", victim, stolen)
	exchanges := w.provider.Asked("/token")
	if exchanges != 0 {
		t.Errorf("the provider was asked %d times about a stolen code", exchanges)
	}
	for name, query := range map[string]string{"no state": "code=x", "a forged state": "code=x&state=forged", "nothing": "", "an error without a state": "error=x"} {
		refused(name, attacker, w.url+"/sign-in/oidc/callback?"+query)
	}

	b := w.visitor()
	used := w.callback(b, w.leave(b, "/account/tokens"), "s-ann")
	if _, at, _ := b.send("GET", used, nil); at.Path != "/account/tokens" {
		t.Errorf("led to %s", at)
	}
	if status, at, body := b.send("GET", used, nil); status != 200 || at.Path != "/" {
		t.Errorf("loaded again: %d %s %s", status, at, body)
	}
	b.Jar, _ = cookiejar.New(nil)
	refused("used", b, used)

	late := w.callback(b, w.leave(b, "/"), "s-ann")
	w.clock.move(10 * time.Minute)
	refused("over", b, late)

	for _, to := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "/sign-in", "/" + strings.Repeat("a", 3000)} {
		b := w.visitor()
		if _, at, _ := w.signIn(b, "s-ann", to); at.Path != "/" || !strings.HasPrefix(at.String(), w.url) {
			t.Errorf("%.30s leads to %s", to, at)
		}
	}
	if status, _, _ := w.visitor().send("GET", w.url+"/sign-in/none", nil); status != 404 {
		t.Errorf("an unknown way: %d", status)
	}
}

// Below a path, the provider sends browsers back below it, and cookies are for it.
func TestSingleSignOnBelowAPath(t *testing.T) {
	w := newSignOnWorld(t, func(c *config.Config) { c.BaseURL += "/outrigger" })
	w.url += "/outrigger"
	w.provider.SetClient(openid.Client{ID: "outrigger", Secret: "client secret", Callback: w.url + "/sign-in/oidc/callback"})
	w.run(w.cfg)
	b := w.visitor()
	if _, _, body := b.send("GET", w.url+"/sign-in", nil); !strings.Contains(body, `href="/outrigger/sign-in/oidc?to=%2F"`) {
		t.Errorf("the page has no button: %s", body)
	}
	location := w.leave(b, "/account/tokens")
	at, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Jar.Cookies(at.JoinPath("/"))) != 1 || len(b.Jar.Cookies(&url.URL{Scheme: "http", Host: at.Host, Path: "/"})) != 0 {
		t.Error("the cookie is for other paths too")
	}
	if status, at, body := b.send("GET", w.callback(b, location, "s-ann"), nil); status != 200 || at.Path != "/outrigger/account/tokens" || w.signedIn(b) != "ann" {
		t.Errorf("%d %s %s", status, at, body)
	}
}

// Only members of allowed_groups sign in, where there are any.
func TestAllowedGroups(t *testing.T) {
	w := newSignOnWorld(t, func(c *config.Config) { c.Identity.OIDC.AllowedGroups = []string{"ops", "outrigger-admins"} })
	w.run(w.cfg)
	b := w.visitor()
	if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
		t.Error(body)
	}
	b = w.visitor()
	if status, _, body := w.signIn(b, "s-bob", "/"); status != 401 || !strings.Contains(body, "in no group that may use Outrigger") || w.signedIn(b) != "" {
		t.Errorf("%d %s", status, body)
	}
}

// Ten minutes after the provider last asked who is there, a user signs in with it
// again, and not just by a session that is left open there, before a token for
// everything is made.
func TestConfirmedByTheProvider(t *testing.T) {
	w := newSignOnWorld(t)
	w.run(w.cfg)
	b := w.visitor()
	w.signIn(b, "s-ann", "/")
	token := url.Values{"name": {"ci"}, "scope": {"all"}, "days": {"30"}}
	makes := func(when string, made bool) {
		t.Helper()
		status, _, body := b.send("POST", w.url+"/account/tokens/new", token)
		if strings.Contains(body, "otr_") != made {
			t.Errorf("%s: %d %s", when, status, body)
		}
	}
	makes("just signed in", true)
	w.clock.move(10 * time.Minute)
	makes("ten minutes later", false)
	b.Jar, _ = cookiejar.New(nil)
	w.signIn(b, "s-ann", "/")
	makes("signed in by the session there", false)

	_, _, body := b.send("POST", w.url+"/account/tokens/new", token)
	if strings.Contains(body, `type="password"`) || !strings.Contains(body, `href="/sign-in/oidc?again=true&to=%2F" target="_blank" rel="noopener">Sign in again with the company</a>`) {
		t.Fatalf("the page is %s", body)
	}
	_, at, _ := b.send("GET", w.url+"/sign-in/oidc?again=true&to=%2Faccount%2Ftokens", nil)
	if q := at.Query(); q.Get("prompt") != "login" || q.Get("max_age") != "0" {
		t.Errorf("the provider is asked for %s", at)
	}
	kept := url.Values{"confirm-to": {"/account/tokens/new"}, "confirm-post": {"true"}, "name": token["name"], "scope": token["scope"], "days": token["days"]}
	if status, _, body := b.send("POST", w.url+"/confirm", kept); status != 409 || !strings.Contains(body, "Sign in again first") {
		t.Errorf("gone on without it: %d %s", status, body)
	}
	old := b.Jar.Cookies(at)
	if _, at, body := b.send("GET", w.callback(b, at.String(), "s-ann"), nil); at.Path != "/account/tokens" {
		t.Fatalf("%s: %s", at, body)
	}
	if status, at, body := b.send("POST", w.url+"/confirm", kept); status != 200 || at.Path != "/account/tokens/new" || !strings.Contains(body, "otr_") {
		t.Errorf("gone on with what was entered: %d %s %s", status, at, body)
	}
	makes("signed in again", true)
	for _, cookie := range old {
		if cookie.Name == "outrigger_session" {
			if status, _ := get(t, w.url+"/account/tokens", func(r *http.Request) { r.AddCookie(cookie) }); status == 200 {
				t.Error("the session before goes on")
			}
		}
	}
}
