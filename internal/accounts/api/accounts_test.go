package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/rest/openapitest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Everybody's password. It is computed once a minute and person.
const password = "correct horse battery"

// site is a server with root, who has SYS_ADMIN, and ann, who has nothing.
type site struct {
	*identity.Service
	t      *testing.T
	base   string
	client *http.Client
}

func each(t *testing.T, fn func(s site)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, secret.KeySize), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := site{t: t, Service: identity.New(d, identity.Options{Box: box, Log: log, DataDir: t.TempDir(), PasswordCost: identitytest.Cost})}
		server := httptest.NewUnstartedServer(nil)
		s.base = "http://" + server.Listener.Addr().String() + "/base"
		router, err := rest.NewRouter(rest.Options{Identity: s.Service, Log: log, BaseURL: s.base})
		if err != nil {
			t.Fatal(err)
		}
		Routes(router, s.Service, func() []string { return []string{"git", "cloud"} })
		spec, err := openapitest.Load(router.OpenAPI())
		if err != nil {
			t.Fatal(err)
		}
		server.Config.Handler = router
		server.Start()
		t.Cleanup(server.Close)
		checked, err := spec.Transport(s.base, server.Client().Transport)
		if err != nil {
			t.Fatal(err)
		}
		s.client = &http.Client{Transport: checked}
		for _, name := range []string{"root", "ann"} {
			if _, err := s.CreateUser(t.Context(), name, secret.New(password)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Grant(t.Context(), "root", identity.SysAdmin, identity.Resource{}); err != nil {
			t.Fatal(err)
		}
		fn(s)
	}, secret.Migrations, audit.Migrations, identity.Migrations)
}

// do asks as a user, "" for anonymous, "Bearer x" for who has the token x.
func (s site) do(user, method, path, body string) (int, string, http.Header) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+root+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.HasPrefix(user, "Bearer ") {
		r.Header.Set("Authorization", user)
	} else if user != "" {
		r.SetBasicAuth(user, password)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(answer), res.Header
}

// want asks and holds the answer to a status and a part of the body.
func (s site) want(status int, part, user, method, path, body string) string {
	s.t.Helper()
	got, answer, _ := s.do(user, method, path, body)
	if got != status || !strings.Contains(answer, part) {
		s.t.Errorf("%s asks %s %s: %d %s\nwant %d with %s", user, method, path, got, answer, status, part)
	}
	return answer
}

// Every member that is wrong is named at once: unreadable, unknown, refused.
func TestEveryMistakeAtOnce(t *testing.T) {
	each(t, func(s site) {
		for _, c := range []struct{ user, method, path, body, fields string }{
			{"root", "POST", "/users", `{"name":"","password":"short","colour":1}`, "colour name password"},
			{"ann", "PUT", "/users/ann/password", `{"password":"short","currentPassword":"not mine"}`, "currentPassword password"},
			{"ann", "POST", "/tokens", `{"name":"","scope":"everything","expiresAt":"soon"}`, "expiresAt name scope"},
			{"root", "POST", "/users/ann/grants", `{"permission":"REPO_ADMIN","place":"here"}`, "place connection projectKey repositoryKey"},
		} {
			answer := s.want(400, "", c.user, c.method, c.path, c.body)
			var body struct{ Errors []struct{ Field string } }
			if err := json.Unmarshal([]byte(answer), &body); err != nil {
				t.Fatal(err)
			}
			var fields []string
			for _, e := range body.Errors {
				fields = append(fields, e.Field)
			}
			if got := strings.Join(fields, " "); got != c.fields {
				t.Errorf("%s %s names %q, want %q", c.method, c.path, got, c.fields)
			}
		}
	})
}

func idOf(t *testing.T, answer string) string {
	t.Helper()
	var v struct{ ID json.Number }
	if err := json.Unmarshal([]byte(answer), &v); err != nil || v.ID == "" {
		t.Fatalf("%s has no id: %v", answer, err)
	}
	return v.ID.String()
}

func TestWhoMayWhat(t *testing.T) {
	each(t, func(s site) {
		for _, c := range []struct {
			method, path, body  string
			nobody, ann, nought int // nought: as root, and it does not exist or is wrong
		}{
			{"GET", "/users", "", 401, 403, 200},
			{"POST", "/users", `{}`, 401, 403, 400},
			{"GET", "/users/nobody", "", 401, 403, 404},
			{"DELETE", "/users/nobody", "", 401, 403, 404},
			{"PUT", "/users/nobody/password", `{"password":"0123456789"}`, 401, 403, 404},
			{"GET", "/users/nobody/grants", "", 401, 403, 404},
			{"POST", "/users/nobody/grants", `{"permission":"ADMIN"}`, 401, 403, 404},
			{"DELETE", "/users/nobody/grants/1", "", 401, 403, 404},
			{"DELETE", "/users/ann/grants/1", "", 401, 403, 404},
			{"DELETE", "/users/ann/grants/x", "", 401, 403, 404},
			{"GET", "/tokens?user=nobody", "", 401, 403, 404},
			{"POST", "/tokens", `{"user":"nobody","name":"x","scope":"all"}`, 401, 403, 404},
			{"DELETE", "/tokens/4711", "", 401, 403, 404},
			{"DELETE", "/tokens/9223372036854775808", "", 401, 403, 404},
			{"GET", "/sessions?user=nobody", "", 401, 403, 404},
			{"DELETE", "/sessions?user=nobody", "", 401, 403, 404},
			{"DELETE", "/sessions/4711", "", 401, 403, 404},
			{"DELETE", "/sessions/x", "", 401, 403, 404},
			{"GET", "/tokens?after=eA", "", 401, 400, 400},
			{"GET", "/sessions?limit=0", "", 401, 400, 400},
		} {
			s.want(c.nobody, "Client must be authenticated", "", c.method, c.path, c.body)
			s.want(c.ann, "", "ann", c.method, c.path, c.body)
			s.want(c.nought, "", "root", c.method, c.path, c.body)
		}
		s.want(409, "SYS_ADMIN", "root", "DELETE", "/users/root", "")
	})
}

func TestUsers(t *testing.T) {
	each(t, func(s site) {
		status, answer, h := s.do("root", "POST", "/users", `{"name":"Béa x","password":"0123456789","grants":[],"source":"local"}`)
		if status != 201 || h.Get("Location") != s.base+root+"/users/B%C3%A9a%20x" {
			t.Errorf("%d %s, Location: %s", status, answer, h.Get("Location"))
		}
		s.want(200, `"name":"Béa x"`, "root", "GET", "/users/b%C3%A9a%20x", "")
		s.want(409, "names are not case-sensitive", "root", "POST", "/users", `{"name":"ANN","password":"0123456789"}`)
		s.want(400, `"field":"password"`, "root", "POST", "/users", `{"name":"","password":"short"}`)
		s.want(400, `"field":"admin"`, "root", "POST", "/users", `{"name":"x","password":"0123456789","admin":true}`)
		page := s.want(200, `"next":`, "root", "GET", "/users?limit=2", "")
		var first struct{ Next string }
		if err := json.Unmarshal([]byte(page), &first); err != nil {
			t.Fatal(err)
		}
		rest := s.want(200, `"name":"root"`, "root", "GET", "/users?limit=2&after="+first.Next, "")
		if strings.Contains(rest, `"ann"`) || strings.Contains(rest, "next") {
			t.Errorf("the second page is %s", rest)
		}
		s.want(204, "", "root", "DELETE", "/users/B%C3%A9a%20x", "")
		s.want(200, `"grants":[]`, "ann", "GET", "/users/ANN", "")
		s.want(403, "", "ann", "GET", "/users/root", "")
	})
}

// A disabled user is refused by password and token until enabled again.
func TestDisabling(t *testing.T) {
	each(t, func(s site) {
		token, kept, err := s.CreateToken(s.t.Context(), "ann", "x", identity.All, time.Time{})
		if err != nil {
			s.t.Fatal(err)
		}
		bearer := "Bearer " + token.Reveal()
		s.want(200, `"enabled":true`, bearer, "GET", "/users/ann", "")
		s.want(403, "", "ann", "POST", "/users/root/disable", "")
		s.want(401, "", "", "POST", "/users/ann/disable", "")
		s.want(404, "", "root", "POST", "/users/nobody/disable", "")
		s.want(404, "", "root", "POST", "/users/nobody/enable", "")
		s.want(409, "You cannot disable your own account", "root", "POST", "/users/root/disable", "")
		s.want(204, "", "root", "POST", "/users/ANN/disable", "")
		s.want(401, "Client must be authenticated", "ann", "GET", "/users/ann", "")
		s.want(401, "Client must be authenticated", bearer, "GET", "/users/ann", "")
		answer := s.want(200, `"enabled":false`, "root", "GET", "/users/ann", "")
		if !strings.Contains(answer, `"disabledAt":`) || !strings.Contains(answer, `"lastSignInAt":`) {
			s.t.Errorf("the user is %s", answer)
		}
		for body, field := range map[string]string{`{"keepTokens":[4711]}`: "keepTokens", `{"keepTokens":["1"]}`: "keepTokens", `{"keep":[1]}`: "keep", `[]`: "", `x`: ""} {
			if answer := s.want(400, field, "root", "POST", "/users/ann/enable", body); strings.Contains(s.want(200, "", "root", "GET", "/users/ann", ""), `"enabled":true`) {
				s.t.Errorf("%s enabled the user: %s", body, answer)
			}
		}
		s.want(204, "", "root", "POST", "/users/ann/enable", fmt.Sprintf(`{"keepTokens":[%d]}`, kept.ID))
		s.want(200, `"enabled":true`, bearer, "GET", "/users/ann", "")
		s.want(204, "", "root", "POST", "/users/ann/disable", "")
		s.want(204, "", "root", "POST", "/users/ann/enable", "")
		s.want(401, "", bearer, "GET", "/users/ann", "")
		s.want(200, `"enabled":true`, "ann", "GET", "/users/ann", "")
	})
}

func TestPasswords(t *testing.T) {
	each(t, func(s site) {
		const other = "another password"
		s.want(400, `"field":"currentPassword"`, "ann", "PUT", "/users/ann/password", `{"password":"`+other+`"}`)
		s.want(400, `"field":"currentPassword"`, "ann", "PUT", "/users/ann/password", `{"password":"`+other+`","currentPassword":"wrong password"}`)
		s.want(400, `"field":"password"`, "ann", "PUT", "/users/ann/password", `{"password":"short","currentPassword":"`+password+`"}`)
		s.want(403, "", "ann", "PUT", "/users/root/password", `{"password":"`+other+`"}`)
		s.want(204, "", "ann", "PUT", "/users/ann/password", `{"password":"`+other+`","currentPassword":"`+password+`"}`)
		s.want(401, "", "ann", "GET", "/users/ann", "")
		s.want(204, "", "root", "PUT", "/users/ann/password", `{"password":"`+password+`"}`)
		s.want(200, "", "ann", "GET", "/users/ann", "")
		// Tokens end with the password, unless that is not wanted.
		made := func() string {
			token, _, err := s.CreateToken(t.Context(), "ann", "x", identity.All, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			return "Bearer " + token.Reveal()
		}
		kept, second := made(), made()
		s.want(400, `"field":"endTokens"`, "root", "PUT", "/users/ann/password", `{"password":"`+password+`","endTokens":"no"}`)
		s.want(204, "", "root", "PUT", "/users/ann/password", `{"password":"`+password+`","endTokens":false}`)
		s.want(200, "", kept, "GET", "/users/ann", "")
		for _, body := range []string{`{"password":"` + password + `"}`, `{"password":"` + password + `","endTokens":true}`} {
			s.want(204, "", "root", "PUT", "/users/ann/password", body)
			s.want(401, "", kept, "GET", "/users/ann", "")
			s.want(401, "", second, "GET", "/users/ann", "")
			kept, second = made(), made()
		}
		// A token is no password, so that who has one cannot change the password.
		token, _, err := s.CreateToken(t.Context(), "ann", "x", identity.All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		s.want(400, `"field":"currentPassword"`, "Bearer "+token.Reveal(), "PUT", "/users/ann/password",
			`{"password":"`+other+`","currentPassword":"`+token.Reveal()+`"}`)
	})
}

func TestGrants(t *testing.T) {
	each(t, func(s site) {
		s.want(403, "", "ann", "GET", "/users", "")
		id := idOf(t, s.want(201, `"permission":"SYS_ADMIN"`, "root", "POST", "/users/ann/grants", `{"permission":"SYS_ADMIN"}`))
		s.want(200, "", "ann", "GET", "/users", "")
		s.want(409, "", "root", "POST", "/users/ann/grants", `{"permission":"SYS_ADMIN"}`)
		s.want(400, `"field":"connection"`, "root", "POST", "/users/ann/grants", `{"permission":"REPO_ADMIN"}`)
		s.want(400, `There is no connection \"gti\"; give git or cloud.`, "root", "POST", "/users/ann/grants", `{"permission":"PROJECT_ADMIN","connection":"gti","projectKey":"ATL"}`)
		s.want(201, "", "root", "POST", "/users/ann/grants", `{"permission":"PROJECT_ADMIN","connection":"git","projectKey":"ATL"}`)
		s.want(200, `"id":`+id, "ann", "GET", "/users/ann/grants", "")
		s.want(204, "", "root", "DELETE", "/users/ann/grants/"+id, "")
		s.want(403, "", "ann", "GET", "/users", "")
	})
}

// Enum values are taken in any case and with spaces or hyphens, and answered in ours.
func TestEnumValuesInAnyCase(t *testing.T) {
	each(t, func(s site) {
		s.client = &http.Client{} // the description lists our spelling alone
		for permission, want := range map[string]string{"sys_admin": "SYS_ADMIN", "Admin": "ADMIN", "Project admin": "PROJECT_ADMIN", "repo-admin": "REPO_ADMIN"} {
			at := ""
			if strings.HasPrefix(want, "PROJECT") || strings.HasPrefix(want, "REPO") {
				at = `,"connection":"git","projectKey":"ATL"`
			}
			if strings.HasPrefix(want, "REPO") {
				at += `,"repositoryKey":"engine"`
			}
			s.want(201, `"permission":"`+want+`"`, "root", "POST", "/users/ann/grants", `{"permission":"`+permission+`"`+at+`}`)
		}
		for i, scope := range []string{"READ", "All", " monitoring", "BUILDS", "Mail"} {
			want := strings.ToLower(strings.TrimSpace(scope))
			s.want(201, `"scope":"`+want+`"`, "root", "POST", "/tokens", fmt.Sprintf(`{"name":"t%d","scope":%q}`, i, scope))
		}
		s.want(400, `"field":"scope"`, "ann", "POST", "/tokens", `{"name":"x","scope":"read all"}`)
		s.want(400, `"field":"permission"`, "root", "POST", "/users/ann/grants", `{"permission":"sysadmin"}`)
	})
}

func TestTokens(t *testing.T) {
	each(t, func(s site) {
		answer := s.want(201, `"user":"ann"`, "ann", "POST", "/tokens", `{"name":"reader","scope":"read"}`)
		var made struct{ Token string }
		if err := json.Unmarshal([]byte(answer), &made); err != nil {
			t.Fatal(err)
		}
		bearer := "Bearer " + made.Token
		list := s.want(200, `"lastUsedAt":`, bearer, "GET", "/tokens", "")
		if strings.Contains(list, made.Token) || strings.Contains(list, "expiresAt") {
			t.Errorf("the list has %s", list)
		}
		s.want(403, "scope", bearer, "POST", "/tokens", `{"name":"more","scope":"all"}`)
		foreign := idOf(t, s.want(201, "", "root", "POST", "/tokens", `{"name":"mine","scope":"all","expiresAt":"2099-01-01T00:00:00+01:00"}`))
		s.want(200, `"expiresAt":"2098-12-31T23:00:00Z"`, "root", "GET", "/tokens", "")
		_, missing, _ := s.do("ann", "DELETE", "/tokens/4711", "")
		s.want(403, missing, "ann", "DELETE", "/tokens/"+foreign, "") // the same as for what does not exist
		s.want(400, `"field":"scope"`, "ann", "POST", "/tokens", `{"name":"x","scope":"everything"}`)
		for _, scope := range []string{"mail", "monitoring"} {
			s.want(403, "To create a token of scope "+scope+" you need the permission ADMIN.", "ann", "POST", "/tokens", `{"name":"x","scope":"`+scope+`"}`)
			s.want(201, `"user":"ann"`, "root", "POST", "/tokens", `{"user":"ann","name":"given","scope":"`+scope+`"}`)
		}
		s.want(201, `"user":"ann"`, "root", "POST", "/tokens", `{"user":"ANN","name":"given","scope":"builds"}`)
		s.want(200, `"name":"given"`, "root", "GET", "/tokens?user=ann", "")
		s.want(204, "", "ann", "DELETE", "/tokens/"+idOf(t, answer), "")
		s.want(401, "", bearer, "GET", "/tokens", "")
	})
}

func TestSessions(t *testing.T) {
	each(t, func(s site) {
		session, p, err := s.SignIn(t.Context(), "ann", password, "192.0.2.9")
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.base+root+"/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		res, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		own, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.Contains(string(own), `"address":"192.0.2.9","current":true`) || strings.Contains(string(own), session) {
			t.Errorf("%d %s", res.StatusCode, own)
		}
		s.want(200, `"current":false`, "root", "GET", "/sessions?user=ann", "")
		other, _, err := s.SignIn(t.Context(), "root", password, "192.0.2.9")
		if err != nil {
			t.Fatal(err)
		}
		who, err := s.Session(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		s.want(403, "", "ann", "DELETE", "/sessions?user=root", "")
		s.want(403, "", "ann", "DELETE", "/sessions/"+intText(who.Session), "")
		s.want(204, "", "ann", "DELETE", "/sessions/"+intText(p.Session), "")
		if _, err := s.Session(t.Context(), session); err == nil {
			t.Error("the session is not over")
		}
		s.want(204, "", "root", "DELETE", "/sessions", "") // by password: it has no session that stays
		if _, err := s.Session(t.Context(), other); err == nil {
			t.Error("the sessions are not over")
		}
	})
}

func intText(n int64) string { return strconv.FormatInt(n, 10) }
