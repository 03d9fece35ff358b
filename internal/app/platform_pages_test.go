package app

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// newPlatformWorld is a world whose users are those of a platform, on whose pages
// they sign in.
func newPlatformWorld(t *testing.T, change ...func(*config.Config)) (*signOnWorld, *playgroundtest.Bitbucket) {
	t.Helper()
	platform := playgroundtest.NewBitbucket(bitbucket.Options{
		Token: "right",
		Users: []bitbucket.User{{Name: "ann", Password: "ann on the platform"}, {Name: "bob"}, {Name: "boss", Permission: "SYS_ADMIN"}, {Name: "ann%20b+c"}},
		Projects: []bitbucket.Project{
			{Key: "ATL", ID: 1, Admins: []string{"ann"}},
			{Key: "PAC", ID: 2, Repositories: []bitbucket.Repository{{Slug: "vault", ID: 3, Admins: []string{"ann%20b+c"}}}},
		},
	})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	w := newSignOnWorld(t, append([]func(*config.Config){func(c *config.Config) {
		c.Identity.OIDC = config.OIDC{}
		c.Notify.Connections = []config.Connection{{
			Name: "main", Kind: config.KindBitbucketDC, BaseURL: server.URL, Token: secret.New("right"), Unsigned: true,
			ClientID: "outrigger", ClientSecret: secret.New("link & secret"),
		}}
		c.Identity.Platform = "main"
	}}, change...)...)
	platform.Change(func(o *bitbucket.Options) {
		o.Links = map[string]bitbucket.Link{"outrigger": {Secret: "link & secret", Redirect: w.url + "/sign-in/platform/callback", Scopes: []string{"REPO_READ", "PROJECT_ADMIN"}}}
	})
	return w, platform
}

// enter signs in on the platform's pages.
func (w *signOnWorld) enter(b *person, user, answer string) (int, *url.URL, string) {
	w.t.Helper()
	status, at, body := b.send("GET", w.url+"/sign-in/platform?to=/notifications/rules", nil)
	if status != 200 || at.Path != "/rest/oauth2/latest/authorize" {
		w.t.Fatalf("%d %s %s", status, at, body)
	}
	still := *b
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := still.PostForm(at.String(), url.Values{"user": {user}, "answer": {answer}})
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return b.send("GET", resp.Header.Get("Location"), nil)
}

// Users of the platform sign in on its own pages, without a password here, and may
// do what they administer there.
func TestSignInOnPlatformPages(t *testing.T) {
	t.Parallel()
	w, platform := newPlatformWorld(t)
	a := w.run(w.cfg)
	host := strings.TrimPrefix(w.cfg.Notify.Connections[0].BaseURL, "http://")
	if _, _, body := w.visitor().send("GET", w.url+"/sign-in", nil); !strings.Contains(body, ">Sign in with "+host+"</a>") || !strings.Contains(body, `name="password"`) {
		t.Errorf("the page is %s", body)
	}
	for user, want := range map[string]string{"ann": "PROJECT_ADMIN ATL ", "ann%20b+c": "REPO_ADMIN PAC vault", "boss": "ADMIN  ", "bob": ""} {
		b := w.visitor()
		if status, at, body := w.enter(b, user, "allow"); at.Path != "/notifications/rules" && want != "" || status == 401 {
			t.Errorf("%s: %d %s %s", user, status, at, body)
			continue
		}
		var session string
		for _, cookie := range b.Jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(w.url, "http://"), Path: "/"}) {
			if cookie.Name == "outrigger_session" {
				session = cookie.Value
			}
		}
		p, err := a.identity.Session(t.Context(), session)
		if err != nil || p.Name != user || p.Source != "main" {
			t.Fatalf("%s: %+v, %v", user, p, err)
		}
		got := ""
		for _, g := range p.Grants {
			got += string(g.Permission) + " " + g.Resource.Project + " " + g.Resource.Repository
		}
		if got != want {
			t.Errorf("%s has %q, want %q", user, got, want)
		}
	}
	if _, trail := get(t, a.URL()+"/rest/outrigger/1.0/audit?area=identity", asAdmin); !strings.Contains(trail, `"way":"platform"`) {
		t.Errorf("the audit trail says %s", trail)
	}
	// The password goes on working.
	if status, _, body := w.visitor().send("POST", w.url+"/sign-in", url.Values{"user": {"ann"}, "password": {"ann on the platform"}}); status != 200 {
		t.Errorf("by password: %d %s", status, body)
	}

	refused := func(name string, wantStatus int, says, answer string) {
		t.Helper()
		b := w.visitor()
		status, at, body := w.enter(b, "ann", answer)
		if status != wantStatus || at.Path != "/sign-in/platform/callback" || !strings.Contains(body, says) || strings.Contains(body, "not permitted to access") || strings.Contains(body, "authorization code") {
			t.Errorf("%s: %d %s %s", name, status, at, body)
		}
		if _, at, _ := b.send("GET", w.url+"/account/tokens", nil); at.Path != "/sign-in" {
			t.Errorf("%s: signed in", name)
		}
	}
	refused("denied", 401, "was cancelled", "deny")
	for at, kinds := range map[string]map[playgroundtest.Kind]int{
		"oauth2/latest/token":     {playgroundtest.Forbidding: 401, playgroundtest.Broken: 503, playgroundtest.Proxied: 503, playgroundtest.Garbling: 503, playgroundtest.Chattering: 503, playgroundtest.Dropping: 503, playgroundtest.Throttling: 503, playgroundtest.Redirecting: 503},
		"/application-properties": {playgroundtest.Forbidding: 401, playgroundtest.Refusing: 401, playgroundtest.Proxied: 401, playgroundtest.Broken: 503, playgroundtest.Dropping: 503},
		"/projects":               {playgroundtest.Forbidding: 401, playgroundtest.Broken: 503, playgroundtest.Garbling: 503},
	} {
		for kind, status := range kinds {
			platform.SetFault(at, playgroundtest.Fault{Kind: kind})
			refused(at+" "+string(kind), status, `name="password"`, "allow")
			platform.SetFault(at, playgroundtest.Fault{})
		}
	}
	platform.Change(func(o *bitbucket.Options) {
		o.Links = map[string]bitbucket.Link{"outrigger": {Secret: "another", Redirect: w.url + "/sign-in/platform/callback", Scopes: []string{"PROJECT_ADMIN"}}}
	})
	refused("another secret", 401, "was refused by "+host, "allow")
	platform.Change(func(o *bitbucket.Options) {
		o.Links = map[string]bitbucket.Link{"outrigger": {Secret: "link & secret", Redirect: w.url + "/sign-in/platform/callback", Scopes: []string{"REPO_READ"}}}
	})
	if status, at, body := w.visitor().send("GET", w.url+"/sign-in/platform", nil); status != 401 || at.Path != "/sign-in/platform/callback" || !strings.Contains(body, "was refused by "+host) {
		t.Errorf("a scope that the link lacks: %d %s %s", status, at, body)
	}
	if err := a.identity.DisableUser(t.Context(), "main:ann"); err != nil {
		t.Fatal(err)
	}
	platform.Change(func(o *bitbucket.Options) {
		o.Links = map[string]bitbucket.Link{"outrigger": {Secret: "link & secret", Redirect: w.url + "/sign-in/platform/callback", Scopes: []string{"PROJECT_ADMIN"}}}
	})
	refused("disabled", 401, "is disabled in Outrigger", "allow")
}

// With both, a claim names the platform's user, who has there what the platform
// says.
func TestSingleSignOnForPlatformUsers(t *testing.T) {
	w, _ := newPlatformWorld(t)
	full := newSignOnWorld(t)
	w.cfg.Identity.OIDC = full.cfg.Identity.OIDC
	w.provider = full.provider
	w.provider.SetClient(openid.Client{ID: "outrigger", Secret: "client secret", Callback: w.url + "/sign-in/oidc/callback"})
	a := w.run(w.cfg)
	w.provider.SetAccount(openid.Account{Subject: "s-boss", Claims: map[string]any{"preferred_username": "boss"}})
	w.provider.SetAccount(openid.Account{Subject: "s-eve", Claims: map[string]any{"preferred_username": "Boss"}})
	b := w.visitor()
	if status, at, body := w.signIn(b, "s-boss", "/notifications/rules"); status != 200 || at.Path != "/notifications/rules" {
		t.Errorf("boss: %d %s %s", status, at, body)
	}
	if u, err := a.identity.User(t.Context(), "main:boss"); err != nil || u.Source != "main" {
		t.Errorf("%+v, %v", u, err)
	}
	if status, _, body := w.signIn(w.visitor(), "s-eve", "/"); status != 401 || !strings.Contains(body, "has no user Boss") {
		t.Errorf("another spelling: %d %s", status, body)
	}
	w.provider.SetAccount(openid.Account{Subject: "s-eve", Claims: map[string]any{"preferred_username": "boss"}})
	if status, _, body := w.signIn(w.visitor(), "s-eve", "/"); status != 401 || !strings.Contains(body, "belongs to another account") {
		t.Errorf("another account: %d %s", status, body)
	}
	// What she administers came with her password; the provider takes nothing away.
	if status, _ := get(t, a.URL()+"/rest/outrigger/1.0/tokens", func(r *http.Request) { r.SetBasicAuth("ann", "ann on the platform") }); status != 200 {
		t.Error(status)
	}
	b = w.visitor()
	if status, at, body := w.signIn(b, "s-ann", "/notifications/rules"); status != 200 || at.Path != "/notifications/rules" {
		t.Errorf("ann: %d %s %s", status, at, body)
	}
}
