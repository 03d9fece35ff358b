package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/playground/openid"
	"outrigger/internal/secret"
)

// groupWorld is a world of single sign-on with the connection main.
func groupWorld(t *testing.T, change ...func(*config.Config)) (*signOnWorld, *App) {
	w := newSignOnWorld(t, append(change, func(c *config.Config) {
		c.Notify.Connections = []config.Connection{
			{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "http://127.0.0.1:1", WebhookSecret: secret.New("hook secret")},
		}
	})...)
	return w, w.run(w.cfg)
}

// What is granted to a group on its page holds for a user who is signed in, for that
// project only, in pages and for tokens, until it ends in one of its ways.
func TestPermissionsOfAGroup(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*config.Config){
		"sqlite":   func(*config.Config) {},
		"postgres": func(c *config.Config) { c.DatabaseURL = secret.New(dbtest.PostgresURL(t, migrations()...)) },
	} {
		t.Run(name, func(t *testing.T) {
			w, a := groupWorld(t, database)
			bob, root := w.visitor(), newPerson(t, a, "admin")
			root.sees("/system/groups", 200, "outrigger-admins", "by identity.oidc.admin_groups", "0 users", "when they next sign in with the company")
			if status, _, body := w.signIn(bob, "s-bob", "/"); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			token, _, err := a.identity.CreateToken(t.Context(), "oidc:bob", "ci", identity.All, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			may := func(when string, global, project, other int) {
				t.Helper()
				for query, want := range map[string]int{"": global, "?connection=main&projectKey=ATL": project, "?connection=main&projectKey=PAC": other} {
					bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) }
					if status, body := get(t, a.URL()+"/rest/mtbs/1.0/configuration/filter"+query, bearer); status != want {
						t.Errorf("%s, rules of %q: %d, want %d: %s", when, query, status, want, body)
					}
				}
			}
			may("no grant", 403, 403, 403)

			grant := url.Values{"group": {"devs"}, "permission": {"PROJECT_ADMIN"}, "connection": {"main"}, "projectKey": {"ATL"}}
			root.sees("/system/groups/grant?group=devs", 200, `value="devs"`, `<option value="outrigger-admins">`, "-The whole system")
			if status, at, body := root.send("POST", "/system/groups/grant", grant); status != 200 || at.Path != "/system/groups/named/devs" || !strings.Contains(body, "Granted: Administers the project ATL of main.") {
				t.Fatalf("%d %s: %s", status, at, body)
			}
			may("granted to bob, who is signed in", 403, 200, 403)
			root.sees("/system/groups/named/devs", 200, "Administers the project ATL of main.", "Known members: 1 user", `href="/system/users/named/oidc%3Abob"`)
			root.sees("/system/users/named/oidc:bob", 200, "Administers the project ATL of main, through the group devs of single sign-on until")
			if status, _, body := bob.send("GET", w.url+"/notifications/rules?connection=main&projectKey=ATL", nil); status != 200 || strings.Contains(body, "PAC") {
				t.Errorf("their page of rules: %d %s", status, body)
			}
			if status, _, _ := bob.send("GET", w.url+"/system/groups", nil); status != 403 {
				t.Errorf("they see the groups: %d", status)
			}

			w.clock.Move(6 * 24 * time.Hour)
			may("within 7 days", 403, 200, 403)
			w.clock.Move(24 * time.Hour)
			may("after 7 days", 403, 403, 403)
			w.signIn(bob, "s-bob", "/")
			may("signed in again", 403, 200, 403)
			w.provider.SetAccount(openid.Account{Subject: "s-bob", Claims: map[string]any{"preferred_username": "bob", "groups": []string{"Devs"}}})
			w.signIn(w.visitor(), "s-bob", "/")
			may("the provider names the group in another case", 403, 403, 403)
			w.provider.SetAccount(openid.Account{Subject: "s-bob", Claims: map[string]any{"preferred_username": "bob", "groups": "devs"}})
			w.signIn(w.visitor(), "s-bob", "/")
			may("and as it is", 403, 200, 403)

			root = newPerson(t, a, "admin")
			page := root.sees("/system/groups/named/devs", 200, "Administers the project ATL of main.")
			_, revoke, _ := strings.Cut(page, `<td class="actions"><a href="`)
			revoke, _, _ = strings.Cut(revoke, `"`)
			root.sees(revoke, 200, "Revoke this permission of the group devs?", "for all users of the group")
			if status, at, body := root.send("POST", revoke, url.Values{}); status != 200 || at.Path != "/system/groups" || !strings.Contains(body, "The permission of the group devs was revoked.") {
				t.Errorf("%d %s: %s", status, at, body)
			}
			may("revoked", 403, 403, 403)
			if _, trail := get(t, a.URL()+"/rest/outrigger/1.0/audit?area=identity", asAdmin); !strings.Contains(trail, `"action":"revoke","object":"group","objectId":"devs"`) || !strings.Contains(trail, `"action":"grant","object":"group"`) {
				t.Errorf("the audit trail says %s", trail)
			}
		})
	}
}

// What was typed stays when it is refused, with every error at its field; a grant
// asks a session for the password again.
func TestGrantToAGroupIsRefused(t *testing.T) {
	t.Parallel()
	w, a := groupWorld(t)
	root := newPerson(t, a, "admin")
	wrong := url.Values{"group": {strings.Repeat("x", 300)}, "permission": {"PROJECT_ADMIN"}, "connection": {"mian"}}
	status, _, body := root.send("POST", "/system/groups/grant", wrong)
	root.reads("refused", body, "Use at most 255 characters", `There is no connection "mian"`, "Say which project the permission is for.", `value="mian"`)
	if status != 400 {
		t.Errorf("%d", status)
	}
	if status, _, body := root.send("POST", "/system/groups/grant", url.Values{"group": {"devs"}, "permission": {"SYS_ADMIN"}}); status != 400 || !strings.Contains(body, "SYS_ADMIN is granted to users only") {
		t.Errorf("%d %s", status, body)
	}
	w.clock.Move(time.Hour)
	if _, at, body := root.send("POST", "/system/groups/grant", url.Values{"group": {"devs"}, "permission": {"ADMIN"}}); !strings.Contains(body, `name="confirm-password"`) {
		t.Errorf("%s does not ask for the password: %s", at, body)
	}
	if _, err := a.identity.Group(t.Context(), "devs"); err == nil {
		t.Error("it is granted")
	}
}

// Without single sign-on, or without its groups, the page says what is missing, and
// that grants have no effect.
func TestGroupsPageWithoutGroups(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	root := newPerson(t, a, "admin")
	root.sees("/system/groups", 200, "none is configured. Set identity.oidc.issuer", "-Grant a permission")
	if _, err := a.identity.GrantGroup(t.Context(), "devs", identity.Admin, identity.Resource{}); err != nil {
		t.Fatal(err)
	}
	root.sees("/system/groups", 200, "Until then, these permissions have no effect.", "Administers all rules, reports and settings.")
	root.sees("/system/groups/named/devs", 200, "Until then, these permissions have no effect.", "/revoke")

	_, a = groupWorld(t, func(c *config.Config) { c.Identity.OIDC.GroupsClaim, c.Identity.OIDC.AdminGroups = "", nil })
	newPerson(t, a, "admin").sees("/system/groups", 200, "Set identity.oidc.groups_claim to the claim in which the company lists the groups of a user", "-Grant a permission")
	_, a = groupWorld(t, func(c *config.Config) { c.Identity.OIDC.AdminGroups = nil })
	newPerson(t, a, "admin").sees("/system/groups", 200, "No groups yet", "when users sign in with the company", "Grant a permission")
}
