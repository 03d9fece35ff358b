package rest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// people knows one user and what to show for them.
type people struct{}

func person(scope identity.Scope, permissions ...identity.Permission) *identity.Principal {
	p := &identity.Principal{UserID: 1, Name: "ann", Source: identity.Local, Scope: scope}
	for _, perm := range permissions {
		p.Grants = append(p.Grants, identity.Grant{Permission: perm})
	}
	return p
}

func (people) Basic(_ context.Context, user, password, addr string) (*identity.Principal, error) {
	switch {
	case addr != "192.0.2.1":
		return nil, fault.New(fault.Internal, "the address is %s", addr)
	case user == "ann" && password == "with:colon":
		return person(identity.All), nil
	case user == "down":
		return nil, fault.New(fault.Unavailable, "The database does not answer.")
	}
	return nil, identity.ErrUnauthenticated()
}

func (people) Bearer(_ context.Context, token string) (*identity.Principal, error) {
	scope, permission, _ := strings.Cut(token, "+")
	if scope == "" || scope == "wrong" {
		return nil, identity.ErrUnauthenticated()
	}
	return person(identity.Scope(scope), identity.Permission(permission)), nil
}

func (people) Session(_ context.Context, session string) (*identity.Principal, error) {
	if session == "good" {
		return person(identity.All), nil
	}
	return nil, identity.ErrUnauthenticated()
}

func whoami(w http.ResponseWriter, r *http.Request) error {
	name := "nobody"
	if p := identity.From(r.Context()); p != nil {
		name = p.Name
	}
	return WriteJSON(w, r, http.StatusOK, name)
}

func TestAuthentication(t *testing.T) {
	s := newStage(t, "https://tools.example.com")
	for _, method := range []string{"GET", "POST"} {
		s.handle(Route{Method: method, Path: "/rest/me"}, whoami)
		s.handle(Route{Method: method, Path: "/rest/anyone", Access: Anyone}, whoami)
		s.handle(Route{Method: method, Path: "/hooks/raw", Raw: true}, whoami)
	}
	const (
		basic  = "Basic YW5uOndpdGg6Y29sb24=" // ann:with:colon
		wrong  = "Basic YW5uOnNlY3JldA=="     // ann:secret
		down   = "Basic ZG93bjpzZWNyZXQ="
		cookie = "__Host-outrigger_session=good"
	)
	for _, c := range []struct {
		name, method, path string
		headers            []string
		status             int
	}{
		{"nothing", "GET", "/rest/me", nil, 401},
		{"password", "GET", "/rest/me", []string{"Authorization", basic}, 200},
		{"scheme in lower case", "GET", "/rest/me", []string{"Authorization", strings.ToLower(basic[:5]) + basic[5:]}, 200},
		{"wrong password", "GET", "/rest/me", []string{"Authorization", wrong}, 401},
		{"wrong password and a good session", "GET", "/rest/me", []string{"Authorization", wrong, "Cookie", cookie}, 401},
		{"no Base64", "GET", "/rest/me", []string{"Authorization", "Basic !"}, 401},
		{"no colon", "GET", "/rest/me", []string{"Authorization", "Basic YW5u"}, 401},
		{"another scheme", "GET", "/rest/me", []string{"Authorization", "Digest x"}, 401},
		{"no scheme", "GET", "/rest/me", []string{"Authorization", "Basic"}, 401},
		{"database away", "GET", "/rest/me", []string{"Authorization", down}, 503},
		{"token", "GET", "/rest/me", []string{"Authorization", "Bearer all"}, 200},
		{"token, spaces", "GET", "/rest/me", []string{"Authorization", "bearer  all "}, 200},
		{"wrong token", "GET", "/rest/me", []string{"Authorization", "Bearer wrong"}, 401},
		{"no token", "GET", "/rest/me", []string{"Authorization", "Bearer"}, 401},
		{"session", "GET", "/rest/me", []string{"Cookie", cookie}, 200},
		{"session that is over", "GET", "/rest/me", []string{"Cookie", "__Host-outrigger_session=old"}, 401},
		{"another cookie", "GET", "/rest/me", []string{"Cookie", "other=good"}, 401},
		{"a cookie that a page without TLS could set", "GET", "/rest/me", []string{"Cookie", "outrigger_session=good"}, 401},

		{"session, write", "POST", "/rest/me", []string{"Cookie", cookie}, 200},
		{"session, write from our page", "POST", "/rest/me", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, 200},
		{"session, write from our page, old browser", "POST", "/rest/me", []string{"Cookie", cookie, "Origin", "https://tools.example.com"}, 200},
		{"session, write from elsewhere", "POST", "/rest/me", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403},
		{"session, write from a sibling", "POST", "/rest/me", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, 403},
		{"session, write from elsewhere, old browser", "POST", "/rest/me", []string{"Cookie", cookie, "Origin", "https://evil.example"}, 403},
		{"session, write from our page without TLS, old browser", "POST", "/rest/me", []string{"Cookie", cookie, "Origin", "http://tools.example.com"}, 403},
		{"session, read from elsewhere", "GET", "/rest/me", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 200},
		{"password, write from elsewhere", "POST", "/rest/me", []string{"Authorization", basic, "Sec-Fetch-Site", "cross-site"}, 403},
		{"token, write from elsewhere", "POST", "/rest/me", []string{"Authorization", "Bearer all", "Sec-Fetch-Site", "cross-site"}, 200},

		{"anyone", "GET", "/rest/anyone", nil, 200},
		{"anyone with a wrong password", "GET", "/rest/anyone", []string{"Authorization", wrong}, 200},
		{"raw", "POST", "/hooks/raw", []string{"Authorization", wrong}, 200},
	} {
		w := s.do(c.method, c.path, "", c.headers...)
		if w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, w.Code, w.Body, c.status)
		}
		if want := `{"status-code":401,"message":"Client must be authenticated to access this resource."}`; c.status == 401 && w.Body.String() != want {
			t.Errorf("%s: %s", c.name, w.Body)
		}
		if c.status == 200 && c.path == "/rest/me" && w.Body.String() != `"ann"` {
			t.Errorf("%s: it is %s", c.name, w.Body)
		}
	}
}

func TestScopesAndAccess(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	for path, access := range map[string]Access{
		"signed": SignedIn, "monitoring": Monitoring, "builds": Builds, "admins": Admins, "sysadmins": SysAdmins, "anyone": Anyone,
	} {
		s.handle(Route{Method: "GET", Path: "/rest/" + path, Access: access}, whoami)
		s.handle(Route{Method: "POST", Path: "/rest/" + path, Access: access}, whoami)
	}
	for _, c := range []struct{ token, reads, writes string }{
		{"all", "signed builds anyone", "signed builds anyone"},
		{"all+ADMIN", "signed monitoring builds anyone admins", "signed monitoring builds anyone admins"},
		{"all+SYS_ADMIN", "signed monitoring builds anyone admins sysadmins", "signed monitoring builds anyone admins sysadmins"},
		{"all+REPO_ADMIN", "signed builds anyone", "signed builds anyone"},
		{"read", "signed builds anyone", "anyone"},
		{"read+SYS_ADMIN", "signed monitoring builds anyone admins sysadmins", "anyone"},
		{"monitoring", "monitoring anyone", "monitoring anyone"},
		{"monitoring+SYS_ADMIN", "monitoring anyone", "monitoring anyone"},
		{"builds+SYS_ADMIN", "builds anyone", "builds anyone"},
		{"mail+SYS_ADMIN", "anyone", "anyone"},
		{"unheard-of", "anyone", "anyone"},
	} {
		for _, path := range []string{"signed", "monitoring", "builds", "admins", "sysadmins", "anyone"} {
			for method, may := range map[string]string{"GET": c.reads, "HEAD": c.reads, "POST": c.writes} {
				want := 403
				if strings.Contains(" "+may+" ", " "+path+" ") {
					want = 200
				}
				if w := s.do(method, "/rest/"+path, "", "Authorization", "Bearer "+c.token); w.Code != want {
					t.Errorf("%s: %s %s is %d, want %d", c.token, method, path, w.Code, want)
				}
			}
		}
	}
}
