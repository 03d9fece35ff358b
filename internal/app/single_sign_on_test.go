package app

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/playground/openid"
	"outrigger/internal/secret"
)

// A user signs in with the provider, and is there by a source and a name, with what
// groups give; the audit trail says how.
func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*config.Config){
		"sqlite":   func(*config.Config) {},
		"postgres": func(c *config.Config) { c.DatabaseURL = secret.New(dbtest.PostgresURL(t, migrations()...)) },
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
			w.clock.Move(7 * 24 * time.Hour)
			settings(403, "a week later")

			// A renamed account stays the user, and another of its name is refused.
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
	t.Parallel()
	t.Run("two nodes", func(t *testing.T) {
		w := newSignOnWorld(t)
		database, key := secret.New(dbtest.PostgresURL(t, migrations()...)), secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
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
	w.clock.Move(10 * time.Minute)
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
	w.clock.Move(10 * time.Minute)
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
	kept := b.waiting()
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
