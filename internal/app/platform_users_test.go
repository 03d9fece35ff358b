package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// Users of the platform sign in with their passwords there, by Basic and in the
// console, and may do what they administer there now.
func TestPlatformUsers(t *testing.T) {
	t.Parallel()
	platform := playgroundtest.NewBitbucket(bitbucket.Options{
		Token: "right",
		Users: []bitbucket.User{
			{Name: "ann", Password: "ann on the platform"}, {Name: "boss", Password: "boss on the platform", Permission: "SYS_ADMIN"},
			{Name: "admin", Password: "admin on the platform", Permission: "SYS_ADMIN"},
		},
		Projects: []bitbucket.Project{{Key: "ATL", ID: 1, Admins: []string{"ann"}}, {Key: "PAC", ID: 2}},
	})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1/32"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: server.URL, Token: secret.New("right"), Unsigned: true,
	}}
	cfg.Identity.Platform = "main"
	clock := new(identitytest.Clock)
	a := startWith(t, cfg, Options{Version: "v0", Clock: clock.Now})

	as := func(user, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	ann, boss := as("ann", "ann on the platform"), as("boss", "boss on the platform")
	save := func(project, name string, who func(*http.Request)) int {
		t.Helper()
		where := ""
		if project != "" {
			where = `"projectKey":"` + project + `",`
		}
		body := `{"name":"` + name + `",` + where + `"webhookUrl":"` + server.URL + `/chat","channelName":"x","eventTypes":["BRANCH_UPDATED"]}`
		return postAs(t, a, "/rest/mtbs/1.0/configuration/filter", body, who)
	}
	wants := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	wants("ann, her project", save("ATL", "one", ann), 201)
	wants("ann, another project", save("PAC", "two", ann), 403)
	wants("ann, everywhere", save("", "three", ann), 403)
	wants("boss, everywhere", save("", "four", boss), 201)
	users := func(who func(*http.Request)) (int, string) {
		return get(t, a.URL()+"/rest/outrigger/1.0/users", who)
	}
	status, _ := users(boss) // SYS_ADMIN there is ADMIN here
	wants("boss, users", status, 403)
	status, _ = users(as("admin", "admin on the platform")) // not the local one
	wants("the platform's admin", status, 401)
	status, list := users(asAdmin)
	wants("admin, users", status, 200)
	if !strings.Contains(list, `"name":"ann","source":"main"`) || !strings.Contains(list, `"name":"admin","source":"local"`) {
		t.Errorf("the users are %s", list)
	}

	// A token of hers goes by what she may do at the time.
	var token struct{ Token, User string }
	status, answer := get(t, a.URL()+"/rest/outrigger/1.0/tokens", ann, func(r *http.Request) {
		r.Method, r.Body = "POST", io.NopCloser(strings.NewReader(`{"name":"ci","scope":"all"}`))
		r.Header.Set("Content-Type", "application/json")
	})
	if err := json.Unmarshal([]byte(answer), &token); err != nil || status != 201 || token.User != "main:ann" {
		t.Fatalf("%d %s", status, answer)
	}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Token) }
	wants("her token", save("ATL", "five", bearer), 201)

	// Her password is the platform's, in the whole of the account.
	status, answer = get(t, a.URL()+"/rest/outrigger/1.0/users/main:ann/password", ann, func(r *http.Request) {
		r.Method, r.Body = "PUT", io.NopCloser(strings.NewReader(`{"password":"staple horse battery","currentPassword":"ann on the platform"}`))
		r.Header.Set("Content-Type", "application/json")
	})
	if status != 409 || !strings.Contains(answer, "change it there") {
		t.Errorf("changing her password: %d %s", status, answer)
	}

	// The console's form.
	form := url.Values{"user": {"Ann"}, "password": {"ann on the platform"}}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}).
		PostForm(a.URL()+"/sign-in", form)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) == 0 {
		t.Fatalf("the form answers %s", resp.Status)
	}
	session := func(r *http.Request) { r.AddCookie(resp.Cookies()[0]) }
	for path, text := range map[string]string{"/notifications/rules": "one", "/account/tokens": "ci"} {
		if status, page := get(t, a.URL()+path, session); status != 200 || !strings.Contains(page, text) {
			t.Errorf("%s: %d, without %q: %s", path, status, text, page)
		}
	}

	platform.Change(func(o *bitbucket.Options) { o.Project("ATL").Admins = nil })
	clock.Move(time.Minute)
	wants("ann, no more", save("ATL", "six", ann), 403)
	wants("her token, no more", save("ATL", "six", bearer), 403)
	platform.Change(func(o *bitbucket.Options) { o.Project("ATL").Admins = []string{"ann"} })

	for _, f := range []playgroundtest.Kind{playgroundtest.Dropping, playgroundtest.Throttling, playgroundtest.Forbidding, playgroundtest.Broken} {
		platform.SetFault("/users", playgroundtest.Fault{Kind: f, RetryAfter: "1"})
		clock.Move(time.Minute)
		wants(string(f)+", her password", save("ATL", "seven", ann), 503)
		wants(string(f)+", her token", save("ATL", "seven", bearer), 503)
		status, _ = users(asAdmin)
		wants(string(f)+", a local user", status, 200)
	}
	platform.SetFault("/users", playgroundtest.Fault{})
	clock.Move(time.Minute)
	wants("back again", save("ATL", "seven", ann), 201)

	status, answer = get(t, a.URL()+"/rest/outrigger/1.0/users/main:ann", asAdmin, func(r *http.Request) { r.Method = "DELETE" })
	if status != 204 {
		t.Errorf("deleting her: %d %s", status, answer)
	}
	wants("the token of a deleted user", save("ATL", "eight", bearer), 401)
}
