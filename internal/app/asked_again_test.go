package app

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

const asked = "Confirm that it is you"

// A change that grants access or exports data is refused to a session of more than 10
// minutes and to a token, and taken with the name and password.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	clock := new(identitytest.Clock)
	a := startAt(t, withChat(t), clock.Now)
	if _, err := a.identity.CreateUser(t.Context(), "bea", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := identitytest.SetUp(t.Context(), a.identity, "bea", clock.Now); err != nil {
		t.Fatal(err)
	}
	if err := a.identity.DisableUser(t.Context(), "bea"); err != nil {
		t.Fatal(err)
	}
	token, _, err := a.identity.CreateToken(t.Context(), "admin", "old", identity.All, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b := newPerson(t, a, "admin")
	clock.Move(10*time.Minute + time.Second)

	const root, bea, free = "/rest/outrigger/1.0", "/system/users/named/bea", "not asked for: "
	connection := func(name, credentials string) string {
		return `{"name":"` + name + `","kind":"bitbucket-dc","baseUrl":"https://code.example",` + credentials + `}`
	}
	for _, c := range []struct {
		name               string
		method, path, body string // by REST
		done               int    // with the password
		page               string // of the console; "" where it has none for this
		form               url.Values
	}{
		{"a token of scope all", "POST", root + "/tokens", `{"name":"x","scope":"all"}`, 201, "/account/tokens/new", url.Values{"name": {"x"}, "scope": {"all"}, "days": {"30"}}},
		{"a token of scope read", "POST", root + "/tokens", `{"name":"x","scope":"read"}`, 201, "/account/tokens/new", url.Values{"name": {"x"}, "scope": {"read"}, "days": {"30"}}},
		{"a token of scope backup", "POST", root + "/tokens", `{"name":"x","scope":"backup"}`, 201, "/account/tokens/new", url.Values{"name": {"x"}, "scope": {"backup"}, "days": {"30"}}},
		{"a token in another's name", "POST", root + "/tokens", `{"name":"x","scope":"mail","user":"bea"}`, 201, "", nil},
		{"the page of enabling a user", "POST", root + "/users/bea/enable", `{"keepTokens":[]}`, 204, bea + "/enable", nil},
		{"enabling a user", "POST", root + "/users/bea/enable", ``, 204, bea + "/enable", url.Values{}},
		{"a grant", "POST", root + "/users/bea/grants", `{"permission":"ADMIN"}`, 201, bea + "/grant", url.Values{"permission": {"ADMIN"}}},
		{"taking a grant back", "DELETE", root + "/users/bea/grants/2", ``, 204, bea + "/grants/2/revoke", url.Values{}},
		{"another's password", "PUT", root + "/users/bea/password", `{"password":"staple battery horse"}`, 204, bea + "/password", url.Values{"password": {"staple battery horse"}}},
		{"another's second factor", "DELETE", root + "/users/bea/second-factor", ``, 204, bea + "/second-factor/remove", url.Values{}},
		{"one's own second factor", "", "", ``, 0, "/account/second-factor/app", nil},
		{"a backup", "GET", root + "/backup", ``, 200, "/system/backup/download", nil},
		{"a diagnosis", "POST", root + "/diagnosis", ``, 200, "", nil},
		{"confirming a restore", "POST", root + "/backup/confirm", ``, 409, "/system/backup/confirm", url.Values{}},
		{"a new connection's token", "POST", root + "/connections", connection("two", `"token":"t-0123456789"`), 201, "/notifications/new-connection",
			url.Values{"name": {"two"}, "kind": {"bitbucket-dc"}, "baseUrl": {"https://code.example"}, "token": {"t-0123456789"}}},
		{"another token of a connection", "PUT", root + "/connections/two", connection("two", `"token":"t-0123456789"`), 200, "/notifications/connections/two/edit",
			url.Values{"baseUrl": {"https://code.example"}, "token": {"t-0123456789"}}},
		{"a new connection's OAuth client secret", "POST", root + "/connections", `{"name":"three","kind":"bitbucket-cloud","baseUrl":"https://bitbucket.org","oauthClientId":"o","oauthClientSecret":"s-0123456789"}`, 201,
			"/notifications/new-connection", url.Values{"name": {"three"}, "kind": {"bitbucket-cloud"}, "baseUrl": {"https://bitbucket.org"}, "oauthClientId": {"o"}, "oauthClientSecret": {"s-0123456789"}}},
		{"the proxy", "PUT", "/rest/mtbs/1.0/configuration/settings", `{"proxyUrl":"http://proxy.example:3128"}`, 200, "/notifications/settings", url.Values{"proxyUrl": {"http://proxy.example:3128"}}},
		{"trying a proxy", "POST", "/rest/mtbs/1.0/configuration/settings/test", `{"proxyUrl":"http://127.0.0.1:1","url":"https://code.example"}`, 0, "/notifications/settings",
			url.Values{"do": {"test"}, "proxyUrl": {"http://127.0.0.1:1"}, "url": {"https://code.example"}}},
		{"another user beside a kept token", "PUT", root + "/connections/two", connection("two", `"user":"u"`), 200, "/notifications/connections/two/edit",
			url.Values{"baseUrl": {"https://code.example"}, "user": {"u"}}},
		{"another path beside a kept token", "PUT", root + "/connections/two", `{"baseUrl":"https://code.example/other","user":"u"}`, 200, "/notifications/connections/two/edit",
			url.Values{"baseUrl": {"https://code.example/other"}, "user": {"u"}}},
		{"webhooks made with a kept token", "PUT", root + "/connections/two", `{"baseUrl":"https://code.example/other","user":"u","manageWebhooks":true}`, 200, "/notifications/connections/two/edit",
			url.Values{"baseUrl": {"https://code.example/other"}, "user": {"u"}, "manageWebhooks": {"true"}}},
		{"another OAuth client beside a kept secret", "PUT", root + "/connections/three", `{"baseUrl":"https://bitbucket.org","oauthClientId":"p"}`, 200, "/notifications/connections/three/edit",
			url.Values{"baseUrl": {"https://bitbucket.org"}, "oauthClientId": {"p"}}},
		{free + "a kept token that goes on as before", "PUT", root + "/connections/two", `{"baseUrl":"https://code.example/other","user":"u","manageWebhooks":true}`, 200, "", nil},
		{free + "a connection without credentials", "POST", root + "/connections", connection("four", `"user":""`), 201, "", nil},
		{free + "its other path", "PUT", root + "/connections/four", `{"baseUrl":"https://code.example/other"}`, 200, "", nil},
	} {
		needed := !strings.HasPrefix(c.name, free)
		if c.page != "" {
			method := "POST"
			if c.form == nil {
				method = "GET"
			}
			if status, at, body := b.send(method, c.page, c.form); !strings.Contains(body, asked) {
				t.Errorf("%s, console: %d %s %.300s", c.name, status, at, body)
			}
		}
		if c.path == "" {
			continue
		}
		ask := func(edit func(*http.Request)) (int, string) {
			return get(t, a.URL()+c.path, func(r *http.Request) {
				r.Method = c.method
				if c.body != "" {
					r.Header.Set("Content-Type", "application/json")
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(c.body)), int64(len(c.body))
				}
				edit(r)
			})
		}
		if needed {
			at, _ := url.Parse(a.URL())
			if status, body := ask(func(r *http.Request) {
				for _, cookie := range b.Jar.Cookies(at) {
					r.AddCookie(cookie)
				}
			}); status != 403 || !strings.Contains(body, asked) {
				t.Errorf("%s, REST by the session: %d %.300s", c.name, status, body)
			}
			if status, body := ask(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }); status != 403 || !strings.Contains(body, "alone is not enough") {
				t.Errorf("%s, REST by a token: %d %.300s", c.name, status, body)
			}
		}
		who := asAdmin
		if !needed {
			who = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }
		}
		if status, body := ask(who); c.done != 0 && status != c.done || status == 401 || status == 403 {
			t.Errorf("%s, REST, allowed: %d %.300s", c.name, status, body)
		}
	}
}

// A token of scope backup takes backups, while its owner is a system administrator,
// and nothing else.
func TestATokenThatTakesBackups(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	if _, err := a.identity.CreateUser(t.Context(), "bea", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	bearer := func(user string) func(*http.Request) {
		token, _, err := a.identity.CreateToken(t.Context(), user, "nightly", identity.Backup, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }
	}
	nightly, others := bearer("admin"), bearer("bea")
	for range 2 {
		if status, body := get(t, a.URL()+"/rest/outrigger/1.0/backup", nightly); status != 200 || !strings.HasPrefix(body, "SQLite format 3\x00") {
			t.Errorf("%d %.200s", status, body)
		}
	}
	if status, body := get(t, a.URL()+"/rest/outrigger/1.0/backup", others); status != 403 {
		t.Errorf("of a user without permissions: %d %.200s", status, body)
	}
	for _, route := range a.router.Routes() {
		if route.Raw || route.Access == rest.Anyone || strings.HasSuffix(route.Path, "/1.0/backup") || !strings.HasPrefix(route.Path, "/rest/") {
			continue
		}
		path := strings.NewReplacer("{", "", "}", "", "...", "").Replace(route.Path)
		status, body := get(t, a.URL()+path, nightly, func(r *http.Request) { r.Method = route.Method })
		if status != 403 || route.Method != "HEAD" && !strings.Contains(body, "does not allow this") {
			t.Errorf("%s %s: %d %.200s", route.Method, path, status, body)
		}
	}
}
