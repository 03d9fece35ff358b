package app

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// secretOn is the secret that a page shows once.
var secretOn = regexp.MustCompile(`[A-Za-z0-9_-]{43}`)

// A person connects a platform, makes a hook for a project, rotates its secret
// and deletes both, all without JavaScript.
func TestConnectionPages(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	page := func(path string, form url.Values, want int, texts ...string) string {
		t.Helper()
		status, body := consolePage(t, a, path, form)
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
	page("/notifications/connections", nil, 200, "main", "in the configuration file", "Bitbucket Data Center")
	if form := page("/notifications/new-connection", nil, 200, "Base URL", "An HTTP access token"); strings.Contains(form, "keep the stored one") {
		t.Error("a new connection has no token to keep")
	}
	lacks := func(body string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if strings.Contains(body, text) {
				t.Errorf("the form has %q", text)
			}
		}
	}
	lacks(page("/notifications/new-connection", nil, 200, `name="kind" value="bitbucket-dc"`, `name="token"`, `href="/notifications/new-connection?kind=bitbucket-cloud"`), "oauthClientId")
	lacks(page("/notifications/new-connection?kind=bitbucket-cloud", nil, 200, `name="kind" value="bitbucket-cloud"`, "oauthClientId", "oauthClientSecret"), "git.example.com", `name="user"`, `name="token"`)
	lacks(page("/notifications/new-connection?kind=bitbucket-cloud", url.Values{"name": {"No!"}, "kind": {"bitbucket-cloud"}, "baseUrl": {"git"}}, 400, "oauthClientId", "lower-case letters"), `name="token"`)
	page("/notifications/new-connection", url.Values{"name": {"No!"}, "kind": {"bitbucket-dc"}, "baseUrl": {"git"}}, 400,
		"lower-case letters", "https://host/path", `value="git"`)
	made := page("/notifications/new-connection", url.Values{"name": {"second"}, "kind": {"bitbucket-dc"}, "baseUrl": {"http://127.0.0.1:1"}}, 200,
		"not shown again", a.URL()+"/hooks/second")
	first := secretOn.FindString(made)
	if first == "" {
		t.Fatal("the page shows no secret")
	}
	if body := page("/notifications/connections/second", nil, 200, "the connection's own", "everything"); strings.Contains(body, first) {
		t.Error("the secret is shown again")
	}
	page("/notifications/connections/second/test", url.Values{}, 303)
	page("/notifications/connections/second/edit", nil, 200, "http://127.0.0.1:1")
	page("/notifications/connections/second/edit", url.Values{"version": {"1"}, "kind": {"bitbucket-dc"}, "baseUrl": {"https://git.example.com"}, "token": {"a-token"}}, 303)
	page("/notifications/connections/second/edit", url.Values{"version": {"2"}, "kind": {"bitbucket-dc"}, "baseUrl": {"https://evil.example.com"}}, 400,
		"Enter the token again", `value="https://evil.example.com"`)
	page("/notifications/connections/second/rotate", nil, 200, "within 7 days", "danger")
	if rotated := page("/notifications/connections/second/rotate", url.Values{}, 200, "Old secret"); secretOn.FindString(rotated) == first {
		t.Error("rotated to the same secret")
	}
	page("/notifications/connections/main/new-hook", nil, 200, "Project key")
	page("/notifications/connections/main/new-hook", url.Values{"name": {"No!"}, "repositoryKey": {"canoe"}}, 400, "needs its projectKey", "lower-case letters")
	page("/notifications/connections/main/new-hook", url.Values{"name": {"atl"}, "projectKey": {"ATL"}}, 200, "project ATL", a.URL()+"/hooks/main/atl")
	page("/notifications/connections/main", nil, 200, "project ATL", "Bitbucket Data Center")
	page("/notifications/connections/main/hooks/atl/rotate", url.Values{}, 200, "not shown again")
	page("/notifications/connections/main/hooks/atl/delete", nil, 200, "This will be lost")
	page("/notifications/connections/main/hooks/atl/delete", url.Values{}, 303)
	page("/notifications/connections/main/rotate", url.Values{}, 409)
	page("/notifications/connections/second/delete", nil, 200, "This will be lost")
	page("/notifications/connections/second/delete", url.Values{}, 303)
	page("/notifications/connections/second", nil, 404)

	renamed(t, a)
	page("/", nil, 200, "ATL/canoe is now PAC/vault", "/notifications/renames")
	page("/notifications/renames", nil, 200, "a webhook alone never moves them", "/notifications/renames/1/confirm")
	page("/notifications/renames/1/dismiss", nil, 200, "The permissions stay at ATL/canoe")
	there := identity.Resource{Connection: "main", Project: "PAC", Repository: "vault"}
	grant, err := a.identity.Grant(t.Context(), "admin", identity.RepoAdmin, there)
	if err != nil {
		t.Fatal(err)
	}
	const blocked = "PAC/vault has 1 permission already"
	page("/", nil, 200, blocked)
	if list := page("/notifications/renames", nil, 200, blocked); strings.Contains(list, "/renames/1/confirm") {
		t.Error("a rename that cannot be confirmed has a button for it")
	}
	page("/notifications/renames/1/confirm", nil, 409, blocked)
	page("/notifications/renames/1/confirm", url.Values{}, 409, blocked)
	if err := a.identity.Revoke(t.Context(), "admin", grant.ID); err != nil {
		t.Fatal(err)
	}
	page("/notifications/renames/1/confirm", nil, 200, "Check on the platform first")
	page("/notifications/renames/1/confirm", url.Values{}, 303)
	page("/notifications/renames/1/confirm", nil, 409, "confirmed, dismissed or undone")
	page("/notifications/renames", nil, 200, "Nothing to decide")
}

// An administrator of a project sees the hooks of that project, and makes more.
func TestConnectionPagesOfAProject(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	if _, err := a.identity.CreateUser(t.Context(), "ada", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	at := identity.Resource{Connection: "main", Project: "ATL"}
	if _, err := a.identity.Grant(t.Context(), "ada", identity.ProjectAdmin, at); err != nil {
		t.Fatal(err)
	}
	session, _, err := a.identity.SignIn(t.Context(), "ada", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	as := func(form url.Values) func(*http.Request) {
		return func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
			if form != nil {
				r.Method = http.MethodPost
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Body = io.NopCloser(strings.NewReader(form.Encode()))
			}
		}
	}
	for _, c := range []struct {
		path string
		form url.Values
		want int
	}{
		{"/", nil, 200},
		{"/notifications/connections", nil, 200},
		{"/notifications/connections/main", nil, 200},
		{"/notifications/connections/main/new-hook", url.Values{"name": {"atl"}, "projectKey": {"ATL"}}, 200},
		{"/notifications/connections/main/new-hook", url.Values{"name": {"pac"}, "projectKey": {"PAC"}}, 403},
		{"/notifications/connections/main/new-hook", url.Values{"name": {"all"}}, 403},
		{"/notifications/connections/main/hooks/atl/rotate", url.Values{}, 200},
		{"/notifications/connections/main/rotate", url.Values{}, 403},
		{"/notifications/connections/main/edit", nil, 403},
		{"/notifications/connections/main/delete", nil, 403},
		{"/notifications/connections/elsewhere", nil, 403},
		{"/notifications/new-connection", nil, 403},
		{"/notifications/renames", nil, 403},
	} {
		if status, body := get(t, a.URL()+c.path, as(c.form)); status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.path, status, c.want, body)
		} else if c.path == "/" && (strings.Contains(body, "Nothing to show yet") || !strings.Contains(body, `href="/notifications/rules`)) {
			t.Errorf("the overview has nothing for who administers a project: %s", body)
		}
	}
}

// /notifications leads everyone to the rules that they administer.
func TestNotificationsLeadToOnesOwnRules(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	to := func(user string) string {
		session, _, err := a.identity.SignIn(t.Context(), user, password, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		status, body := get(t, a.URL()+"/notifications", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		})
		return strconv.Itoa(status) + " " + body
	}
	if got := to("admin"); !strings.Contains(got, `303 <a href="/notifications/rules?level=global"`) {
		t.Errorf("an administrator: %s", got)
	}
	for _, c := range []struct {
		name string
		may  identity.Permission
		at   identity.Resource
		want string
	}{
		{"ada", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}, `303 <a href="/notifications/rules?level=project"`},
		{"ben", identity.RepoAdmin, identity.Resource{Connection: "main", Project: "ATL", Repository: "canoe"}, `303 <a href="/notifications/rules?level=repository"`},
		{"cy", "", identity.Resource{}, "403 "},
	} {
		if _, err := a.identity.CreateUser(t.Context(), c.name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		if c.may != "" {
			if _, err := a.identity.Grant(t.Context(), c.name, c.may, c.at); err != nil {
				t.Fatal(err)
			}
		}
		if got := to(c.name); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Webhooks that are refused are told of where an administrator looks: on the
// overview, on the connection's page and among the events.
func TestRefusedWebhooksAreShown(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	for range 3 {
		status, _ := get(t, a.URL()+"/hooks/main", func(r *http.Request) {
			r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(`{"eventKey":"pr:opened"}`))
			r.Header.Set("X-Hub-Signature", "sha256="+strings.Repeat("0", 64))
		})
		if status != 401 {
			t.Fatalf("a wrong signature: %d", status)
		}
	}
	a.chat.refusals.Stop() // writes what was counted
	a.chat.refusals.Start(t.Context())
	for path, want := range map[string]string{
		"/":                               "refused webhooks in the last 24 h",
		"/notifications/connections/main": "3 with a missing or wrong signature",
		"/notifications/events":           "3 with a missing or wrong signature",
	} {
		if status, body := consolePage(t, a, path, nil); status != 200 || !strings.Contains(body, want) || !strings.Contains(body, "127.0.0.1") {
			t.Errorf("%s: %d, does not say %q: %s", path, status, want, body)
		}
	}
}
