package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/playground/openid"
	"outrigger/internal/secret"
)

const day = 24 * time.Hour

// Users of a provider who do not sign in are announced, paused, and back with their
// next sign-in; administrators see them, and the tokens that work on.
func TestIdleUsersOfAProvider(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*config.Config){
		"sqlite":   func(*config.Config) {},
		"postgres": func(c *config.Config) { c.DatabaseURL = secret.New(dbtest.PostgresURL(t, migrations()...)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newSignOnWorld(t, database)
			a := w.run(w.cfg)
			all, monitoring := map[string]string{}, map[string]string{}
			for i := range 10 {
				user := fmt.Sprintf("u%d", i)
				w.provider.SetAccount(openid.Account{Subject: "s-" + user, Claims: map[string]any{"preferred_username": user}})
				w.signIn(w.visitor(), "s-"+user, "/")
				if _, err := a.identity.Grant(t.Context(), "oidc:"+user, identity.Admin, identity.Resource{}); err != nil {
					t.Fatal(err)
				}
				all[user], monitoring[user] = w.token("oidc:"+user, identity.All), w.token("oidc:"+user, identity.Monitoring)
			}
			const rules, sizes = "/rest/mtbs/1.0/configuration/filter", "/rest/mailqueue/1.0/status"
			// said by answers to tokens, and of the users
			check := func(when string, status int, header, paused, near bool) {
				t.Helper()
				for user, token := range all {
					got, body, by := askAs(t, a.URL()+rules, token)
					if got != status || header == (by == "") || status == 403 && !strings.Contains(body, "Sign in again at "+w.url+"/sign-in/oidc;") {
						t.Errorf("%s, %s, scope all: %d, %q: %s", when, user, got, by, body)
					}
					if got, body, by := askAs(t, a.URL()+sizes, monitoring[user]); got != 200 || by != "" {
						t.Errorf("%s, %s, scope monitoring: %d %q %s", when, user, got, by, body)
					}
					_, body = get(t, a.URL()+"/rest/outrigger/1.0/users/oidc:"+user, asAdmin)
					if !strings.Contains(body, `"pausesAt":"`) || strings.Contains(body, `"paused":true`) != paused {
						t.Errorf("%s, %s", when, body)
					}
					_, body = get(t, a.URL()+"/rest/outrigger/1.0/tokens?user=oidc:"+user, asAdmin)
					if n := strings.Count(body, `"pausedSince"`); (n == 1) != paused || n > 1 {
						t.Errorf("%s, %s", when, body)
					}
				}
				if _, body := get(t, a.URL()+"/rest/outrigger/1.0/users/admin", asAdmin); strings.Contains(body, "pause") {
					t.Errorf("%s, %s", when, body)
				}
				admin := newPerson(t, a, "admin")
				_, _, page := admin.send("GET", "/system/users", nil)
				for text, want := range map[string]int{
					`<span class="badge warn">paused soon</span>`: map[bool]int{true: 10}[near], `<h2>Paused soon</h2>`: map[bool]int{true: 1}[near],
					`<span class="badge warn">paused</span>`: map[bool]int{true: 10}[paused], `data-label="User"><a href="/system/users/named/oidc%3Au`: map[bool]int{true: 10}[paused],
				} {
					if n := strings.Count(page, text); n != want {
						t.Errorf("%s, the users page has %d times %s, want %d: %s", when, n, text, want, page)
					}
				}
				for path, text := range map[string]string{"": "until the next sign-in. Tokens of the scopes", "/access": `<span class="badge warn">paused</span>`} {
					if _, _, page := admin.send("GET", "/system/users/named/oidc:u7"+path, nil); strings.Contains(page, text) != paused {
						t.Errorf("%s, %q: %s", when, path, page)
					}
				}
			}
			check("at first", 200, false, false, false)
			w.clock.Move(23*day - time.Hour)
			check("7 days and an hour before", 200, false, false, false)
			w.clock.Move(time.Hour)
			check("7 days before", 200, true, false, true)
			w.clock.Move(7 * day)
			check("30 days later", 403, false, true, false)
			for user := range all {
				w.signIn(w.visitor(), "s-"+user, "/")
			}
			check("all have signed in", 200, false, false, false)
		})
	}
}

// token makes a token.
func (w *signOnWorld) token(user string, scope identity.Scope) string {
	w.t.Helper()
	token, _, err := w.node.Load().identity.CreateToken(w.t.Context(), user, "of "+string(scope), scope, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	return token.Reveal()
}

// askAs returns the answer to a token, with what it says of signing in.
func askAs(t *testing.T, url, token string) (status int, body, by string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header.Get("Outrigger-Sign-In-By")
}

// A browser whose session outlasts the time is told of it beforehand, and then has
// to sign in again.
func TestABrowserOfAnIdleUser(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t, func(c *config.Config) { c.Identity.OIDC.Idle = config.Duration(2 * day) })
	w.run(w.cfg)
	b := w.visitor()
	w.signIn(b, "s-bob", "/")
	const said = "your account is paused from"
	for hour := range 48 {
		status, _, body := b.send("GET", w.url+"/account/sessions", nil)
		if status != 200 || strings.Contains(body, said) != (hour >= 24) {
			t.Fatalf("after %d hours: %d %s", hour, status, body)
		}
		if hour >= 24 && !strings.Contains(body, `href="/sign-in/oidc?again=true&to=%2Faccount%2Fsessions">Sign in again with the company</a>`) {
			t.Errorf("it does not say where: %s", body)
		}
		w.clock.Move(time.Hour)
	}
	if _, at, body := b.send("GET", w.url+"/account/sessions", nil); at.Path != "/sign-in" || !strings.Contains(body, "oidc:bob has been paused since") {
		t.Errorf("after 48 hours: %s %s", at, body)
	}
	if _, at, body := w.signIn(b, "s-bob", "/account/sessions"); at.Path != "/account/sessions" || strings.Contains(body, said) {
		t.Errorf("signed in again: %s %s", at, body)
	}
}
