package users

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/console"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

const password = "canoe and kayak"

// site is a console with the pages over a real identity. root, who reads them,
// has SYS_ADMIN; ann has an account of the cloud.
type site struct {
	*identity.Service
	t       *testing.T
	handler http.Handler
	session string
}

func each(t *testing.T, fn func(s *site)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := &site{t: t, Service: identity.New(d, identity.Options{Box: secrettest.Box(t, d), Log: slog.New(slog.DiscardHandler), DataDir: t.TempDir(), PasswordCost: identitytest.Cost})}
		for _, name := range []string{"root", "ann"} {
			if _, err := s.CreateUser(t.Context(), name, secret.New(password)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Service.Grant(t.Context(), "root", identity.SysAdmin, identity.Resource{}); err != nil {
			t.Fatal(err)
		}
		c, err := console.New(console.Options{Identity: s.Service, BaseURL: "http://outrigger.test"})
		if err != nil {
			t.Fatal(err)
		}
		Register(c, Options{
			Service: s.Service, Connections: func() []string { return []string{"main", "cloud"} },
			Accounts: func(_ context.Context, u identity.User) ([]Account, error) {
				if u.Name != "ann" {
					return nil, nil
				}
				return []Account{{Name: "Ann A", Connection: "cloud", Rules: 1}}, nil
			},
		})
		if s.handler, err = c.Handler(); err != nil {
			t.Fatal(err)
		}
		s.session = s.signIn("root")
		fn(s)
	}, secret.Migrations, audit.Migrations, identity.Migrations)
}

func (s *site) signIn(user string) string {
	s.t.Helper()
	session, _, err := s.SignIn(s.t.Context(), user, password, "192.0.2.1")
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// send asks for a page; form nil is a GET. It must answer with the status and say
// the texts.
func (s *site) send(path string, form url.Values, status int, texts ...string) string {
	s.t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	if form != nil {
		r = httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: s.session})
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	body := html.UnescapeString(w.Body.String())
	if w.Code != status {
		s.t.Errorf("%s: %d, want %d: %s", path, w.Code, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			s.t.Errorf("%s does not say %q: %s", path, text, body)
		}
	}
	return body
}

var post = url.Values{}

const ann = "/system/users/named/ann"

func TestAddAUser(t *testing.T) {
	each(t, func(s *site) {
		s.send("/system/users", nil, 200, "root", "Administers the whole system", "nothing yet", "Add a user")
		s.send("/system/users/new", nil, 200, "Leave empty to have one generated")
		s.send("/system/users/new", url.Values{"name": {"a:b"}, "password": {"short"}}, 400, `value="a:b"`, "must not contain a colon", "at least 10")
		s.send("/system/users/new", url.Values{"name": {"ANN"}}, 409, "There is already a user")
		made := s.send("/system/users/new", url.Values{"name": {"New"}}, 200, "not shown again")
		plain := regexp.MustCompile(`data-copy="([^"]+)"`).FindStringSubmatch(made)
		if plain == nil {
			s.t.Fatal("no password is shown")
		}
		if _, err := s.Basic(s.t.Context(), "new", plain[1], "192.0.2.1"); err != nil {
			s.t.Errorf("the generated password: %v", err)
		}
		s.send("/system/users/new", url.Values{"name": {"b & c"}, "password": {"0123456789"}}, 303)
		s.send("/system/users", nil, 200, `href="/system/users/named/b%20%26%20c"`)
		s.send("/system/users/named/b%20%26%20c", nil, 200, "b & c")
		s.send("/system/users/named/nobody", nil, 404)
	})
}

func TestDisableAndEnableAUser(t *testing.T) {
	each(t, func(s *site) {
		session := s.signIn("ann")
		if _, _, err := s.CreateToken(s.t.Context(), "ann", "ci", identity.All, time.Time{}); err != nil {
			s.t.Fatal(err)
		}
		s.send(ann, nil, 200, "enabled", "1 session, 1 token", "the account Ann A of cloud (1 rule)")
		s.send(ann+"/disable", nil, 200, "Disable ann?", "1 session, with unsaved input", "The password and tokens are refused", "The account Ann A of cloud (1 rule) is not used meanwhile.")
		s.send(ann+"/disable", post, 303)
		if _, err := s.Session(s.t.Context(), session); err == nil {
			s.t.Error("the session goes on")
		}
		s.send(ann, nil, 200, "disabled", "0 sessions, 1 token", ann+"/enable")
		s.send("/system/users", nil, 200, "disabled", ann+"/enable")
		s.send(ann+"/enable", nil, 200, "Enable ann", "The tokens from before end", `name="keepTokens"`, "ci", "scope all, never used")
		s.send(ann+"/enable", url.Values{"keepTokens": {"4711"}}, 400, "ann has no token 4711.")
		s.send(ann+"/enable", post, 303)
		s.signIn("ann")
		if list, err := s.Tokens(s.t.Context(), "ann", 0, 10); err != nil || len(list) != 0 {
			s.t.Errorf("tokens %+v, %v", list, err)
		}

		if _, err := s.CreateUser(s.t.Context(), "idle", secret.New(password)); err != nil {
			s.t.Fatal(err)
		}
		if page := s.send("/system/users/named/idle/disable", nil, 200); strings.Contains(page, "This will be lost") {
			s.t.Error("a user without sessions is said to lose some")
		}
		const root = "/system/users/named/root"
		s.send(root+"/disable", post, 409, "You cannot disable your own account")
		s.send(root+"/delete", post, 409, "last enabled user")
		s.send("/system/users/named/nobody/disable", post, 404)
		if page := s.send(root, nil, 200); strings.Contains(page, "/disable") || strings.Contains(page, "/delete") {
			s.t.Error("one's own page offers to end one's own account")
		}
	})
}

func TestGrantAndRevoke(t *testing.T) {
	each(t, func(s *site) {
		blank := s.send(ann+"/grant", nil, 200, "What the user administers", `<option value="cloud">`,
			"its rules, reports, events and deliveries, and those of its repositories",
			`Connection <small>for a project or a repository</small>`, `Repository <small>for a repository</small>`)
		if strings.Contains(blank, "optional") { // what a repository needs is not optional
			s.t.Errorf("the form says optional: %s", blank)
		}
		s.send(ann+"/grant", url.Values{"permission": {"REPO_ADMIN"}, "connection": {"moon"}}, 400, `There is no connection "moon"`, "Say which project the permission is for.", "Say which repository the permission is for.")
		place := url.Values{"permission": {"REPO_ADMIN"}, "connection": {"main"}, "projectKey": {"ATL"}, "repositoryKey": {"canoe"}}
		s.send(ann+"/grant", place, 303)
		s.send(ann+"/grant", place, 409, "already has REPO_ADMIN")
		s.send(ann+"/grant", url.Values{"permission": {"ADMIN"}, "connection": {"main"}}, 303)
		page := s.send(ann, nil, 200, "Administers the repository ATL/canoe of main.", "Administers all rules, reports and settings.")
		revoke := regexp.MustCompile(ann + `/grants/\d+/revoke`).FindString(page)
		s.send(revoke, nil, 200, "Administers the repository ATL/canoe of main.", `<a href="`+ann+`">ann</a></p>`)
		s.send(revoke, post, 303)
		s.send(revoke, post, 404)
		u, err := s.User(s.t.Context(), "ann")
		if err != nil || len(u.Grants) != 1 || u.Grants[0].Permission != identity.Admin {
			s.t.Errorf("ann is %+v, %v", u, err)
		}
	})
}

func TestSetAPassword(t *testing.T) {
	each(t, func(s *site) {
		session := s.signIn("ann")
		s.send(ann+"/password", nil, 200, "signed out everywhere (1 session)")
		s.send(ann+"/password", url.Values{"password": {"short"}}, 400, "at least 10")
		s.send(ann+"/password", url.Values{"password": {"kayak and canoe"}}, 303)
		if _, err := s.Session(s.t.Context(), session); err == nil {
			s.t.Error("the session goes on")
		}
		if _, err := s.Basic(s.t.Context(), "ann", "kayak and canoe", "192.0.2.1"); err != nil {
			s.t.Errorf("with the new password: %v", err)
		}
		s.send(ann+"/password", post, 200, "not shown again")
		s.send("/system/users/named/root/password", url.Values{"password": {"kayak and canoe"}}, 409, "This is your own account")
	})
}

func TestDeleteAUser(t *testing.T) {
	each(t, func(s *site) {
		s.signIn("ann")
		if _, err := s.Service.Grant(s.t.Context(), "ann", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
			s.t.Fatal(err)
		}
		s.send(ann+"/delete", nil, 200, "You cannot undo this.", "1 session, with unsaved input", "Administers the project ATL of main.", "The account Ann A of cloud (1 rule) is withdrawn")
		s.send(ann+"/delete", post, 303)
		s.send(ann, nil, 404)
	})
}

// Users without SYS_ADMIN see neither the pages nor the entry.
func TestOnlySystemAdministrators(t *testing.T) {
	each(t, func(s *site) {
		if _, err := s.Service.Grant(s.t.Context(), "ann", identity.Admin, identity.Resource{}); err != nil {
			s.t.Fatal(err)
		}
		s.session = s.signIn("ann")
		s.send("/system/users", nil, 403)
		s.send("/system/users/named/root/disable", post, 403)
		if strings.Contains(s.send("/", nil, 200), "/system/users") {
			s.t.Error("the navigation has the page")
		}
	})
}

// platform knows bob, whatever the password.
type platform struct{}

func (platform) SignIn(context.Context, string, string) (identity.DirectoryUser, error) {
	return identity.DirectoryUser{Name: "bob"}, nil
}

func (platform) CurrentGrants(context.Context, string, []identity.Grant) ([]identity.Grant, error) {
	return nil, nil
}

func TestAUserOfAPlatform(t *testing.T) {
	each(t, func(s *site) {
		s.UseDirectory("main", platform{})
		s.signIn("bob")
		const bob = "/system/users/named/main%3Abob"
		s.send("/system/users", nil, 200, `href="`+bob+`"`, "What the user administers on main.")
		if page := s.send(bob, nil, 200, "the platform main"); strings.Contains(page, "Set password") {
			s.t.Error("the page offers to set a password that is the platform's")
		}
		s.send(bob+"/password", nil, 409, "Change it there")
		s.send(bob+"/delete", nil, 200, "The platform main still knows the user")
		s.send(bob+"/disable", post, 303)
		s.send(bob, nil, 200, "disabled")
	})
}

func TestListOfUsersGoesOn(t *testing.T) {
	d := dbtest.SQLite(t, secret.Migrations, audit.Migrations, identity.Migrations)
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		for i := range listed + 2 {
			if err := tx.Do(t.Context(), "storing a user", `INSERT INTO identity_users (source, name, name_key, password,
				initial_password, created_at, password_at, signed_in_at, disabled_at, subject, claimed_until)
				VALUES ('local', $1, $1, '', 0, 0, 0, 0, 0, '', 0)`, fmt.Sprintf("user %03d", i)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	u := &users{Options{Service: identity.New(d, identity.Options{Box: secrettest.Box(t, d), Log: slog.New(slog.DiscardHandler), DataDir: t.TempDir(), PasswordCost: identitytest.Cost})}}
	seen := 0
	for path := "/system/users"; path != ""; {
		r := httptest.NewRequest("GET", path, nil)
		answer, err := u.list(r.WithContext(identity.With(r.Context(), &identity.Principal{UserID: 1})))
		if err != nil {
			t.Fatal(err)
		}
		view := answer.(console.Page).Data.(listView)
		seen, path = seen+len(view.Users), view.Pager.Next
	}
	if seen != listed+2 {
		t.Errorf("%d users are listed, want %d", seen, listed+2)
	}
}

// An administrator sees where a user is signed in and the user's tokens, and ends
// and revokes them; what is another user's is not found below this one.
func TestSessionsAndTokens(t *testing.T) {
	each(t, func(s *site) {
		const page = "/system/users/named/ann"
		s.send(page+"/access", nil, 200, "0 sessions", "0 tokens", "Not signed in anywhere.", "No tokens.")
		ctx := identity.WithCaller(s.t.Context(), &identity.Caller{Origin: identity.Origin{UserAgent: "curl/8.14.1"}})
		one, p, err := s.SignIn(ctx, "ann", password, "192.0.2.7")
		if err != nil {
			s.t.Fatal(err)
		}
		two, three := s.signIn("ann"), s.signIn("ann")
		token, made, err := s.CreateToken(s.t.Context(), "ann", "Grafana", identity.Read, time.Time{})
		if err != nil {
			s.t.Fatal(err)
		}
		over := func(session string) bool { _, err := s.Session(s.t.Context(), session); return err != nil }

		s.send(page, nil, 200, `href="/system/users/named/ann/access"`, "3 sessions, 1 token")
		s.send(page+"/access", nil, 200, "3 sessions", "curl", "192.0.2.7", "unknown browser", "Grafana", "read")
		s.send("/system/users/named/root"+fmt.Sprintf("/sessions/%d/end", p.Session), post, 404)
		s.send(page+fmt.Sprintf("/sessions/%d/end", p.Session), post, 303)
		if !over(one) || over(two) {
			s.t.Error("not that session ended")
		}
		s.send(page+"/access/end", nil, 200, "End the sessions of ann?")
		s.send(page+"/access/end", post, 303)
		if !over(two) || !over(three) || over(s.session) {
			s.t.Error("not those sessions ended")
		}
		s.send("/system/users/named/root/access/end", post, 303)
		if over(s.session) {
			s.t.Error("an administrator ended the session of the page")
		}
		s.send("/system/users/named/root"+fmt.Sprintf("/tokens/%d/revoke", made.ID), nil, 404)
		s.send(page+fmt.Sprintf("/tokens/%d/revoke", made.ID), nil, 200, "Revoke the token “Grafana” of ann?")
		s.send(page+fmt.Sprintf("/tokens/%d/revoke", made.ID), post, 303)
		if _, err := s.Bearer(s.t.Context(), token.Reveal()); err == nil {
			s.t.Error("the token is still valid")
		}
		s.send(page+"/sessions/x/end", post, 404)
		s.send("/system/users/named/nobody/access", nil, 404)
	})
}

func TestSetPasswordAndRevokeTokens(t *testing.T) {
	each(t, func(s *site) {
		const page = "/system/users/named/ann/password"
		if body := s.send(page, nil, 200); strings.Contains(body, "Revoke") {
			s.t.Error("there are no tokens to revoke")
		}
		token, _, err := s.CreateToken(s.t.Context(), "ann", "ci", identity.Read, time.Time{})
		if err != nil {
			s.t.Fatal(err)
		}
		s.send(page, nil, 200, "Revoke 1 token too", `name="tokens" value="true" checked`)
		s.send(page, url.Values{"password": {"another canoe"}}, 303)
		if _, err := s.Bearer(s.t.Context(), token.Reveal()); err != nil {
			s.t.Error("the token was revoked without being asked to")
		}
		s.send(page, url.Values{"password": {"a third canoe"}, "tokens": {"true"}}, 303)
		if _, err := s.Bearer(s.t.Context(), token.Reveal()); err == nil {
			s.t.Error("the token is still valid")
		}
	})
}

// What is counted to the end is told as it is.
func TestAnAccountCountsItsRules(t *testing.T) {
	for rules, want := range map[int]string{1: "1 rule", 999: "999 rules", 1000: "1000 rules", 1500: "1500 rules"} {
		if got := (Account{Name: "Ann A", Connection: "cloud", Rules: rules}).String(); got != "the account Ann A of cloud ("+want+")" {
			t.Errorf("%d: %s", rules, got)
		}
	}
}
