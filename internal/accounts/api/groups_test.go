package api

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// company is a provider of single sign-on that says who signs in.
type company identity.Account

func (*company) Location(_ context.Context, p identity.Proofs) (string, error) {
	return "https://company.example/?state=" + p.State, nil
}

func (c *company) Account(context.Context, secret.Value, identity.Proofs) (identity.Account, error) {
	return identity.Account(*c), nil
}

// enter has the account sign in.
func (s site) enter(name string) {
	s.t.Helper()
	browser := identity.BrowserSecret()
	location, err := s.BeginSignIn(s.t.Context(), identity.SignInRequest{Way: "oidc", Browser: browser, Back: "/"})
	if err != nil {
		s.t.Fatal(err)
	}
	_, state, _ := strings.Cut(location, "state=")
	if _, _, err := s.CompleteSignIn(s.t.Context(), "oidc", browser, identity.Answer{State: state, Code: secret.New("code")}, "192.0.2.1"); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
}

func TestGroups(t *testing.T) {
	each(t, func(s site) {
		c := &company{Name: "bea", Subject: "1", Groups: []string{"devs", "über/ops, all", "admins"}}
		s.UseSignInProvider(identity.SignInProvider{ID: "oidc", Name: "the company", Source: identity.SingleSignOn, Provider: c})
		s.UseGroups(identity.SingleSignOn, []string{"admins"})
		s.want(200, `{"items":[{"name":"admins","adminGroup":true,"users":0,"grants":[]}]}`, "root", "GET", "/groups", "")
		s.enter("bea")
		*c = company{Name: "cleo", Subject: "2", Groups: []string{"devs"}}
		s.enter("cleo")

		odd := "/groups/" + url.PathEscape("über/ops, all")
		s.want(200, `{"name":"über/ops, all","adminGroup":false,"users":1,"grants":[]}`, "root", "GET", odd, "")
		id := idOf(t, s.want(201, `"permission":"PROJECT_ADMIN","connection":"git","projectKey":"ATL"`, "root", "POST", odd+"/grants", `{"permission":"PROJECT_ADMIN","connection":"git","projectKey":"ATL"}`))
		s.want(409, "already has PROJECT_ADMIN there", "root", "POST", odd+"/grants", `{"permission":"PROJECT_ADMIN","connection":"git","projectKey":"atl"}`)
		s.want(400, `There is no connection \"gti\"; give git or cloud.`, "root", "POST", odd+"/grants", `{"permission":"PROJECT_ADMIN","connection":"gti","projectKey":"ATL"}`)
		answer := s.want(400, `"field":"permission"`, "root", "POST", "/groups/"+strings.Repeat("x", 256)+"/grants", `{"permission":"SYS_ADMIN"}`)
		if !strings.Contains(answer, `"field":"group"`) {
			t.Errorf("not every mistake is named: %s", answer)
		}
		s.want(200, `{"items":[{"id":`+id, "root", "GET", odd+"/grants", "")
		s.want(200, `"users":1`, "root", "GET", odd, "")

		first := s.want(200, `{"items":[{"name":"admins"`, "root", "GET", "/groups?limit=1", "")
		_, next, _ := strings.Cut(first, `"next":"`)
		next, _, _ = strings.Cut(next, `"`)
		second := s.want(200, `{"items":[{"name":"über/ops, all"`, "root", "GET", "/groups?limit=1&after="+next, "")
		_, next, _ = strings.Cut(second, `"next":"`)
		next, _, _ = strings.Cut(next, `"`)
		s.want(200, `{"items":[{"name":"devs","adminGroup":false,"users":2,"grants":[]}]}`, "root", "GET", "/groups?limit=1&after="+next, "")

		s.want(200, `{"items":[{"user":"oidc:bea","enabled":true,"since":"`, "root", "GET", "/groups/devs/users?limit=1", "")
		s.want(200, `{"user":"oidc:cleo"`, "root", "GET", "/groups/devs/users", "")
		s.want(200, `"grants":[]`, "root", "GET", "/users/oidc:bea", "")
		for _, path := range []string{"/groups/DEVS", "/groups/DEVS/users", "/groups/DEVS/grants", "/groups/" + url.PathEscape("a\x00b")} {
			s.want(404, "", "root", "GET", path, "")
		}

		token, _, err := s.CreateToken(t.Context(), "oidc:bea", "ci", identity.All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := s.Bearer(t.Context(), token.Reveal()); err != nil || !p.May(identity.ProjectAdmin, identity.Resource{Connection: "git", Project: "ATL"}) {
			t.Errorf("%+v, %v", p, err)
		}
		s.want(403, "", "Bearer "+token.Reveal(), "GET", "/groups", "") // ADMIN is not enough

		all, _, err := s.CreateToken(t.Context(), "root", "ci", identity.All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		s.want(403, "A token alone is not enough", "Bearer "+all.Reveal(), "POST", "/groups/devs/grants", `{"permission":"ADMIN"}`)
		s.want(403, "A token alone is not enough", "Bearer "+all.Reveal(), "DELETE", odd+"/grants/"+id, "")
		s.want(404, "", "root", "DELETE", "/groups/devs/grants/"+id, "")
		s.want(204, "", "root", "DELETE", odd+"/grants/"+id, "")
		s.want(404, "", "root", "DELETE", odd+"/grants/"+id, "")
	})
}
