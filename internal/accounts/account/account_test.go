package account

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/console"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const (
	adaPassword = "canoe canoe"
	evePassword = "kayak kayak"
)

// site is a console with the account pages over a real identity, where ada
// and eve are users.
type site struct {
	t        *testing.T
	identity *identity.Service
	handler  http.Handler
	now      time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	d := dbtest.SQLite(t, secret.Migrations, audit.Migrations, identity.Migrations)
	if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations); err != nil {
		t.Fatal(err)
	}
	s.identity = identity.New(d, identity.Options{Box: secrettest.Box(t, d), Clock: clock, Log: slog.New(slog.DiscardHandler), DataDir: t.TempDir(), PasswordCost: identitytest.Cost})
	for name, password := range map[string]string{"ada": adaPassword, "eve": evePassword} {
		if _, err := s.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := console.New(console.Options{Identity: s.identity, BaseURL: "http://outrigger.test"})
	if err != nil {
		t.Fatal(err)
	}
	Register(c, s.identity, clock)
	if s.handler, err = c.Handler(); err != nil {
		t.Fatal(err)
	}
	return s
}

// signIn answers a session, "" when it is refused.
func (s *site) signIn(user, password string) string {
	session, _, err := s.identity.SignIn(s.t.Context(), user, password, "192.0.2.1")
	if err != nil {
		return ""
	}
	return session
}

// send makes a request with the session; form nil is a GET.
func (s *site) send(session, path string, form url.Values) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	if form != nil {
		r = httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *site) wants(w *httptest.ResponseRecorder, status int, texts ...string) {
	s.t.Helper()
	if w.Code != status {
		s.t.Errorf("status %d, want %d", w.Code, status)
	}
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			s.t.Errorf("%q is missing in %s", text, w.Body)
		}
	}
}

// says fails unless the page that the answer leads to has the text.
func (s *site) says(session string, answer *httptest.ResponseRecorder, text string) {
	s.t.Helper()
	s.wants(answer, 303)
	r := httptest.NewRequest("GET", answer.Header().Get("Location"), nil)
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	for _, c := range answer.Result().Cookies() {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	s.wants(w, 200, text)
}

func TestChangePassword(t *testing.T) {
	s := newSite(t)
	here, elsewhere := s.signIn("ada", adaPassword), s.signIn("ada", adaPassword)
	s.wants(s.send(here, "/account/password", nil), 200, "Current password")
	for _, tc := range []struct{ current, password, again, want string }{
		{"", "", "", "Enter your current password."},
		{adaPassword, "a new canoe", "a new kayak", "The passwords do not match."},
		{"not my password", "a new canoe", "a new canoe", "The password is wrong."},
		{adaPassword, "short", "short", "at least 10"},
	} {
		w := s.send(here, "/account/password", url.Values{"current": {tc.current}, "password": {tc.password}, "again": {tc.again}})
		s.wants(w, 400, tc.want)
		if tc.current != "" && strings.Contains(w.Body.String(), tc.current) {
			t.Error("a password is shown")
		}
	}
	s.wants(s.send(here, "/account/password", url.Values{"current": {"not my password"}, "password": {"short"}, "again": {"shirt"}}), 400,
		"The password is wrong.", "The passwords do not match", "at least 10")
	w := s.send(here, "/account/password", url.Values{"current": {adaPassword}, "password": {"a new canoe"}, "again": {"a new canoe"}})
	s.wants(w, 303)
	if s.signIn("ada", "a new canoe") == "" || s.signIn("ada", adaPassword) != "" {
		t.Error("the password is not changed")
	}
	s.wants(s.send(here, "/account/password", nil), 200)
	s.wants(s.send(elsewhere, "/account/password", nil), 303)
}

func TestATokenIsShownOnceAndRevoked(t *testing.T) {
	s := newSite(t)
	ada := s.signIn("ada", adaPassword)
	s.wants(s.send(ada, "/account/tokens", nil), 200, "No tokens yet")
	if _, err := s.identity.Grant(t.Context(), "ada", identity.Admin, identity.Resource{}); err != nil {
		t.Fatal(err)
	}
	s.wants(s.send(ada, "/account/tokens/new", nil), 200, `value="read" checked`)
	s.wants(s.send(ada, "/account/tokens/new", url.Values{"scope": {"read"}, "days": {"90"}}), 400, "Give the token a name")
	s.wants(s.send(ada, "/account/tokens/new", url.Values{"name": {"x"}, "scope": {"read"}, "days": {"1000000"}}), 400, "Choose how long")
	s.wants(s.send(ada, "/account/tokens/new", url.Values{"scope": {"any"}, "days": {"1000000"}}), 400,
		"Choose how long", "Give the token a name", "There is no scope")

	w := s.send(ada, "/account/tokens/new", url.Values{"name": {"Grafana"}, "scope": {"monitoring"}, "days": {"30"}})
	s.wants(w, 200, "not shown again", "2026-03-31T12:00:00Z")
	plain := regexp.MustCompile(`data-copy="([^"]+)"`).FindStringSubmatch(w.Body.String())[1]
	p, err := s.identity.Bearer(t.Context(), plain)
	if err != nil || p.Name != "ada" || p.Scope != identity.Monitoring {
		t.Fatalf("the token is %+v, %v", p, err)
	}
	list := s.send(ada, "/account/tokens", nil)
	s.wants(list, 200, "Grafana", "valid")
	if strings.Contains(list.Body.String(), plain) {
		t.Error("the token is shown again")
	}
	revoke := regexp.MustCompile(`href="(/account/tokens/\d+/revoke)"`).FindStringSubmatch(list.Body.String())[1]

	eve := s.signIn("eve", evePassword)
	s.wants(s.send(eve, revoke, nil), 404)
	s.wants(s.send(eve, revoke, url.Values{}), 404)

	s.now = s.now.AddDate(0, 0, 2)
	ada = s.signIn("ada", adaPassword)
	s.wants(s.send(ada, revoke, nil), 200, "Revoke the token “Grafana”?", `Your account <span aria-hidden="true">/</span> <a href="/account/tokens">Tokens</a>`)
	s.wants(s.send(ada, revoke, url.Values{}), 303)
	if _, err := s.identity.Bearer(t.Context(), plain); err == nil {
		t.Error("the token is still good")
	}
	s.wants(s.send(ada, revoke, nil), 404)
	s.wants(s.send(ada, "/account/tokens/x/revoke", nil), 404)
}

// The form offers the scopes of which the reader may make tokens, and no other is
// taken.
func TestScopesThatNeedAdmin(t *testing.T) {
	s := newSite(t)
	if _, err := s.identity.Grant(t.Context(), "ada", identity.Admin, identity.Resource{}); err != nil {
		t.Fatal(err)
	}
	for user, password := range map[string]string{"ada": adaPassword, "eve": evePassword} {
		session, offered := s.signIn(user, password), []string(nil)
		for _, m := range regexp.MustCompile(`name="scope" value="([a-z]+)"`).FindAllStringSubmatch(s.send(session, "/account/tokens/new", nil).Body.String(), -1) {
			offered = append(offered, m[1])
		}
		for _, scope := range identity.Scopes() {
			may := user == "ada" || scope != identity.Mail && scope != identity.Monitoring
			if slices.Contains(offered, string(scope)) != may {
				t.Errorf("%s is offered %v", user, offered)
			}
			w := s.send(session, "/account/tokens/new", url.Values{"name": {"x"}, "scope": {string(scope)}, "days": {"30"}})
			if may {
				s.wants(w, 200, "not shown again")
			} else {
				s.wants(w, 403, "you need the permission ADMIN")
			}
		}
	}
}

func TestAnExpiredTokenSaysSo(t *testing.T) {
	s := newSite(t)
	if _, _, err := s.identity.CreateToken(t.Context(), "ada", "old", identity.All, s.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(2 * time.Hour)
	s.wants(s.send(s.signIn("ada", adaPassword), "/account/tokens", nil), 200, "expired")
}

func TestLongListsGoOn(t *testing.T) {
	s := newSite(t)
	for i := range listed + 1 {
		if _, _, err := s.identity.CreateToken(t.Context(), "ada", fmt.Sprintf("token %02d", i), identity.All, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	ada := s.signIn("ada", adaPassword)
	first := s.send(ada, "/account/tokens", nil)
	s.wants(first, 200, "token 49")
	if strings.Contains(first.Body.String(), "token 50") {
		t.Error("too many on a page")
	}
	next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(first.Body.String())[1]
	s.wants(s.send(ada, next, nil), 200, "token 50", "First page")
	s.wants(s.send(ada, "/account/tokens?after=x", nil), 400)
}

func TestEndASession(t *testing.T) {
	s := newSite(t)
	here, elsewhere, eve := s.signIn("ada", adaPassword), s.signIn("ada", adaPassword), s.signIn("eve", evePassword)
	list := s.send(here, "/account/sessions", nil)
	s.wants(list, 200, "this browser", "192.0.2.1")
	found := regexp.MustCompile(`href="(/account/sessions/\d+/end)"`).FindAllStringSubmatch(list.Body.String(), -1)
	if len(found) != 1 {
		t.Fatalf("%d sessions to end, want the other one", len(found))
	}
	end := found[0][1]
	s.wants(s.send(eve, end, url.Values{}), 404)
	s.wants(s.send(here, end, nil), 200, "End the session from 192.0.2.1?")
	s.wants(s.send(here, end, url.Values{}), 303)
	s.wants(s.send(elsewhere, "/account/sessions", nil), 303)
	s.wants(s.send(here, "/account/sessions", nil), 200)
}

// The list names the browser of each session, and all but one's own end at once.
func TestEndAllOthers(t *testing.T) {
	s := newSite(t)
	here := s.signIn("ada", adaPassword)
	if body := s.send(here, "/account/sessions", nil).Body.String(); strings.Contains(body, "End all others") {
		t.Error("there are no others to end")
	}
	ctx := identity.WithCaller(t.Context(), &identity.Caller{Origin: identity.Origin{
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
	}})
	elsewhere, _, err := s.identity.SignIn(ctx, "ada", adaPassword, "192.0.2.7")
	if err != nil {
		t.Fatal(err)
	}
	eve := s.signIn("eve", evePassword)
	s.wants(s.send(here, "/account/sessions", nil), 200, "Firefox on Linux", "192.0.2.7", "unknown browser", `href="/account/sessions/end-others"`)
	s.wants(s.send(here, "/account/sessions/end-others", nil), 200, "End all other sessions?", "everywhere but in this browser")
	s.says(here, s.send(here, "/account/sessions/end-others", url.Values{}), "1 other session was ended.")
	s.wants(s.send(elsewhere, "/account/sessions", nil), 303)
	s.wants(s.send(eve, "/account/sessions", nil), 200)
}

func TestChangePasswordAndRevokeTokens(t *testing.T) {
	for _, revoke := range []bool{false, true} {
		s := newSite(t)
		token, _, err := s.identity.CreateToken(t.Context(), "ada", "ci", identity.Read, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		ada := s.signIn("ada", adaPassword)
		s.wants(s.send(ada, "/account/password", nil), 200, "Revoke all your tokens too", `name="tokens" value="true" checked`)
		form := url.Values{"current": {adaPassword}, "password": {"a new canoe"}, "again": {"a new canoe"}}
		if revoke {
			form.Set("tokens", "true")
		}
		want := "You were signed out everywhere else.<"
		if revoke {
			want = "You were signed out everywhere else. 1 token was revoked.<"
		}
		s.says(ada, s.send(ada, "/account/password", form), want)
		if _, err := s.identity.Bearer(t.Context(), token.Reveal()); (err != nil) != revoke {
			t.Errorf("revoke %t: the token is %v", revoke, err)
		}
	}
}
