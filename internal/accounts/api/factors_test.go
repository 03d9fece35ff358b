package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
)

// withCode asks by a token, with a code.
func (s site) withCode(token, code, method, path, body string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+root+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Outrigger-Code", code)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// A password alone is refused once its user has a second factor; a token goes on,
// and needs a code for what could hand an account over.
func TestASecondFactorByREST(t *testing.T) {
	each(t, func(s site) {
		token, _, err := s.CreateToken(t.Context(), "root", "x", identity.All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		bearer := "Bearer " + token.Reveal()
		s.want(200, `"secondFactor":{"authenticatorApp":false,"passkeys":0,"recoveryCodes":0}`, "root", "GET", "/users/root", "")
		s.want(409, "has no second factor", "root", "DELETE", "/users/ann/second-factor", "")
		s.want(404, "", "root", "DELETE", "/users/nobody/second-factor", "")
		s.want(403, "", "ann", "DELETE", "/users/root/second-factor", "")
		s.want(401, "", "", "DELETE", "/users/root/second-factor", "")

		app, err := identitytest.SetUp(t.Context(), s.Service, "root", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := identitytest.SetUp(t.Context(), s.Service, "ann", time.Now); err != nil {
			t.Fatal(err)
		}
		s.want(403, "or use a token", "root", "GET", "/users/root", "")
		s.want(200, `"secondFactor":{"authenticatorApp":true,"passkeys":0,"recoveryCodes":10}`, bearer, "GET", "/users/root", "")
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/users/ann/grants", `{"permission":"ADMIN"}`},
			{"DELETE", "/users/ann/grants/4711", ""},
			{"POST", "/tokens", `{"name":"y","scope":"all"}`},
			{"POST", "/tokens", `{"name":"y","scope":"read"}`},
			{"POST", "/tokens", `{"name":"y","scope":"backup"}`},
			{"POST", "/tokens", `{"name":"y","scope":"mail","user":"ann"}`},
			{"POST", "/users/ann/enable", ""},
			{"DELETE", "/users/ann/second-factor", ""},
		} {
			s.want(403, "A token alone is not enough", bearer, c.method, c.path, c.body)
		}
		s.want(201, "", bearer, "POST", "/tokens", `{"name":"y","scope":"mail"}`)
		code, err := app.Code(0, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			code, method, path, body string
			status                   int
		}{
			{"123456", "POST", "/users/ann/grants", `{"permission":"ADMIN"}`, 403},
			{code, "POST", "/users/ann/grants", `{"permission":"ADMIN"}`, 201},
			{code, "POST", "/tokens", `{"name":"z","scope":"all"}`, 403}, // was used
			{app.Recovery[0], "POST", "/tokens", `{"name":"z","scope":"all"}`, 201},
			{app.Recovery[1], "DELETE", "/users/ann/second-factor", "", 204},
		} {
			if got := s.withCode(token.Reveal(), c.code, c.method, c.path, c.body); got != c.status {
				t.Errorf("%s %s: %d, want %d", c.method, c.path, got, c.status)
			}
		}
		s.want(200, `"authenticatorApp":false`, "ann", "GET", "/users/ann", "")
	})
}
