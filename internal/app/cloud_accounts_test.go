package app

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// person is a browser that keeps cookies and follows redirects, as anyone's does.
type person struct {
	http.Client
	t *testing.T
	a *App
}

func newPerson(t *testing.T, a *App, user string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &person{http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}, t, a}
	if status, _, body := b.send("POST", a.URL()+"/sign-in", url.Values{"user": {user}, "password": {password}}); status != 200 || strings.Contains(body, "is wrong") {
		t.Fatalf("signing in as %s: %d %s", user, status, body)
	}
	return b
}

// send returns the status, the address and the body of what a request leads to.
func (b *person) send(method, address string, form url.Values) (int, *url.URL, string) {
	b.t.Helper()
	if !strings.HasPrefix(address, "http") {
		address = b.a.URL() + address
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, resp.Request.URL, html.UnescapeString(string(body))
}

var platformLink = regexp.MustCompile(`href="(http[^"]*/site/oauth2/authorize[^"]*)"`)

// leave has the console lead to the platform, and returns that address.
func (b *person) leave(to string) string {
	b.t.Helper()
	status, _, body := b.send("POST", "/notifications/cloud/accounts/authorize", url.Values{"connection": {"cloud"}, "to": {to}})
	found := platformLink.FindStringSubmatch(body)
	if status != 200 || found == nil {
		b.t.Fatalf("%d %s", status, body)
	}
	return found[1]
}

// consent answers the platform's page, and is led back.
func (b *person) consent(location, answer string) (int, *url.URL, string) {
	b.t.Helper()
	if status, _, body := b.send("GET", location, nil); status != 200 || !strings.Contains(body, "requesting access") {
		b.t.Fatalf("%d %s", status, body)
	}
	return b.send("POST", location, url.Values{"account": {"712020:ana"}, "answer": {answer}})
}

// cloudWorld is a server with a cloud platform, and a user who administers a
// repository of it.
func cloudWorld(t *testing.T, change ...func(*config.Config)) (*App, *playgroundtest.Cloud) {
	t.Helper()
	platform := playgroundtest.NewCloud(bitbucketcloud.Options{
		Accounts:     []bitbucketcloud.Account{{ID: "712020:ana", UUID: "{ana}", DisplayName: "Ana"}},
		Repositories: []bitbucketcloud.Repository{{Workspace: "acme", Slug: "shop", Permissions: map[string]string{"712020:ana": "admin"}}},
	})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{
		{Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: server.URL, ClientID: "key", ClientSecret: secret.New("client-secret"), WebhookSecret: secret.New("hook secret")},
		{Name: "bare", Kind: config.KindBitbucketCloud, BaseURL: server.URL},
	}
	for _, c := range change {
		c(cfg)
	}
	a := start(t, cfg)
	platform.SetConsumer(bitbucketcloud.Consumer{Key: "key", Secret: "client-secret", Name: "Outrigger", Callback: a.URL() + "/oauth/cloud", Scopes: []string{"account", "repository"}})
	for _, name := range []string{"ada", "bob"} {
		if _, err := a.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		at := identity.Resource{Connection: "cloud", Project: "acme", Repository: "shop"}
		if _, err := a.identity.Grant(t.Context(), name, identity.RepoAdmin, at); err != nil {
			t.Fatal(err)
		}
	}
	return a, platform
}

// A person authorises an account through real redirects and comes back to where
// they were, sees it listed, and revokes it.
func TestAuthoriseInABrowser(t *testing.T) {
	t.Parallel()
	a, platform := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	const accounts = "/notifications/cloud/accounts"
	page := func(b *person, path string, want int, texts ...string) string {
		t.Helper()
		status, _, body := b.send("GET", path, nil)
		if status != want {
			t.Fatalf("%s: %d, want %d: %s", path, status, want, body)
		}
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("%s does not say %q: %s", path, text, body)
			}
		}
		return body
	}
	if body := page(ada, accounts, 200, "No accounts yet", "Authorise an account of 127.0.0.1"); strings.Contains(body, "client-secret") {
		t.Error("the page shows the client's secret")
	}
	status, at, body := ada.consent(ada.leave("/notifications/connections/cloud"), "grant")
	if status != 200 || at.Path != "/notifications/connections/cloud" || !strings.Contains(body, "Outrigger may use the account Ana.") {
		t.Fatalf("%d at %s: %s", status, at, body)
	}
	admin := newPerson(t, a, "admin") // a cloud platform has webhooks and accounts elsewhere than a self-hosted one
	admin.sees("/notifications/connections/cloud", 200, "Webhooks of the repositories", "Authorised accounts", "-connections/cloud/webhooks")
	admin.sees("/notifications/connections/cloud/webhooks", 200, "Show the repositories", "-No account for the platform")
	page(ada, accounts, 200, "Ana", "by ada", "authorised", accounts+"/1/revoke")
	bob := newPerson(t, a, "bob")
	page(bob, accounts, 200, "No accounts yet")
	page(bob, accounts+"/1/revoke", 403)
	page(newPerson(t, a, "admin"), accounts, 200, "Ana", "by ada", "no OAuth client yet", a.URL()+"/oauth/bare")

	page(ada, accounts+"/1/revoke", 200, "Revoke the account Ana?", "Until the account is authorised again, its rules take no events")
	if status, at, _ := ada.send("POST", accounts+"/1/revoke", url.Values{}); status != 200 || at.Path != accounts {
		t.Errorf("%d at %s", status, at)
	}
	page(ada, accounts, 200, "revoked", "Authorise again", "take no events")
	if status, at, _ := ada.consent(ada.leave(""), "grant"); status != 200 || at.Path != accounts {
		t.Errorf("again: %d at %s", status, at)
	}

	// The account is withdrawn on the platform: both who gave it and an ADMIN see
	// so on the overview.
	if _, err := a.chat.store.WithdrawAuthorization(t.Context(), 1, 2, "The platform says invalid_grant.", a.clock()); err != nil {
		t.Fatal(err)
	}
	page(ada, accounts, 200, "withdrawn", "invalid_grant", "Authorise again")
	for _, who := range []*person{ada, newPerson(t, a, "admin")} {
		page(who, "/", 200, "The account “Ana”", "invalid_grant")
	}
	if access, _ := platform.Tokens("712020:ana"); access != 2 {
		t.Errorf("%d access tokens", access)
	}
}

// Callbacks that are no answer to what this browser asked store nothing and say
// what to do.
func TestCallbacksInABrowser(t *testing.T) {
	t.Parallel()
	a, _ := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	const accounts = "/notifications/cloud/accounts"
	refused := func(name string, want int, words string) func(int, *url.URL, string) {
		return func(status int, at *url.URL, body string) {
			t.Helper()
			if status != want || at.Path != "/oauth/cloud" || !strings.Contains(body, words) || !strings.Contains(body, `href="`+accounts+`"`) {
				t.Errorf("%s: %d at %s: %s", name, status, at, body)
			}
		}
	}
	refused("forged", 400, "matches none of your requests")(ada.send("GET", "/oauth/cloud?state=forged&code=x", nil))
	refused("empty", 400, "matches none of your requests")(ada.send("GET", "/oauth/cloud", nil))
	refused("denied", 409, "You did not authorise Outrigger")(ada.consent(ada.leave("https://evil.example/"), "cancel"))

	// Another browser, of the same user, comes back with what this one asked for.
	location := ada.leave("//evil.example")
	other := newPerson(t, a, "ada")
	refused("another session", 400, "matches none of your requests")(other.consent(location, "grant"))
	status, at, _ := ada.consent(location, "grant")
	if status != 200 || at.Path != "/" || at.Host != a.Addr() {
		t.Errorf("where to go on, of another site: %d at %s", status, at)
	}

	// The callback is opened once more.
	last := ""
	ada.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.Path, "/oauth/") {
			last = r.URL.String()
		}
		return nil
	}
	ada.consent(ada.leave(accounts), "grant")
	refused("replayed", 400, "matches none of your requests")(ada.send("GET", last, nil))

	// The same code under a state of its own.
	u, _ := url.Parse(last)
	v, _ := url.Parse(ada.leave(accounts))
	refused("a code used twice", 409, "The specified code is not valid")(ada.send("GET", "/oauth/cloud?"+url.Values{"state": {v.Query().Get("state")}, "code": {u.Query().Get("code")}}.Encode(), nil))

	// Who is not signed in signs in first, and the request is then another
	// session's.
	stranger := &person{http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, t, a}
	if status, at, _ := stranger.send("GET", "/oauth/cloud?state=x&code=y", nil); status != 200 || at.Path != "/sign-in" {
		t.Errorf("signed out: %d at %s", status, at)
	}
	if list, err := a.chat.store.ListAuthorizations(t.Context(), 0, 0, 10); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The REST API begins an authorisation, lists and revokes; what a token began is
// completed in any session of its user.
func TestAuthorizationsByREST(t *testing.T) {
	t.Parallel()
	a, _ := cloudWorld(t)
	const path = "/rest/mtbs/1.0/cloud/authorizations"
	as := func(user string) func(*http.Request) { return func(r *http.Request) { r.SetBasicAuth(user, password) } }
	status, answer := postJSON(t, a, path+"?connection=cloud", "ada", "")
	location, _ := answer["location"].(string)
	if status != 200 || !strings.Contains(location, "/site/oauth2/authorize?") {
		t.Fatalf("%d %v", status, answer)
	}
	if status, at, body := newPerson(t, a, "ada").consent(location, "grant"); status != 200 || at.Path != "/notifications/cloud/accounts" {
		t.Fatalf("%d at %s: %s", status, at, body)
	}
	for user, want := range map[string]int{"ada": 1, "bob": 0, "admin": 1} {
		status, body := get(t, a.URL()+path, as(user))
		if status != 200 || strings.Count(body, `"account":"Ana"`) != want || strings.Contains(body, "oken") {
			t.Errorf("%s: %d %s", user, status, body)
		}
	}
	remove := func(r *http.Request) { r.Method = http.MethodDelete }
	for _, c := range []struct {
		user, query string
		want        int
	}{{"bob", "?id=1", 403}, {"ada", "?id=x", 400}, {"ada", "?id=2", 403}, {"admin", "?id=2", 404}, {"ada", "?id=1", 204}, {"ada", "?id=1", 204}} {
		if status, body := get(t, a.URL()+path+c.query, as(c.user), remove); status != c.want {
			t.Errorf("%s deletes %s: %d %s", c.user, c.query, status, body)
		}
	}
	if _, body := get(t, a.URL()+path, as("ada")); !strings.Contains(body, `"state":"revoked"`) {
		t.Error(body)
	}
	for query, want := range map[string]int{"": 403, "?connection=none": 403, "?connection=bare": 403} {
		if status, answer := postJSON(t, a, path+query, "ada", ""); status != want {
			t.Errorf("%q: %d %v", query, status, answer)
		}
	}
	if status, answer := postJSON(t, a, path+"?connection=bare", "admin", ""); status != 409 || !strings.Contains(answer["message"].(string), "/oauth/bare") {
		t.Errorf("no client: %d %v", status, answer)
	}
	_, trail := get(t, a.URL()+"/rest/mtbs/1.0/configuration/audit?limit=1000", asAdmin)
	for _, want := range []string{`"action":"authorize"`, `"action":"revoke"`, `"accountId":"{ana}"`} {
		if !strings.Contains(trail, want) {
			t.Errorf("the audit trail has no %s: %s", want, trail)
		}
	}
}
