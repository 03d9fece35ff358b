package app

import (
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Every user sees the changes of what they administer, in REST, as CSV and in
// the console.
func TestAuditTrail(t *testing.T) {
	t.Parallel()
	a := start(t, withChat(t))
	for _, member := range []string{`"name":"all"`, `"name":"=1+1","projectKey":"ATL"`} {
		rule := `{` + member + `,"webhookUrl":"https://hooks.slack.com/services/A/B/SECRET","eventTypes":["PULL_REQUEST_OPENED"]}`
		if status, body := put(t, a, "POST", filters, rule); status != http.StatusCreated {
			t.Fatalf("saving a rule: %d %s", status, body)
		}
	}
	const secretOfUsers = "kayak in the harbour"
	for name, g := range map[string]identity.Grant{
		"adam": {Permission: identity.Admin},
		"pia":  {Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL"}},
		"ron":  {Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}},
	} {
		if _, err := a.identity.CreateUser(t.Context(), name, secret.New(secretOfUsers)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.identity.Grant(t.Context(), name, g.Permission, g.Resource); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ rules, users int }{"admin": {2, 4}, // the first user is made by the start
		"adam": {2, 0}, "pia": {1, 0}, "ron": {0, 0}} {
		as := func(r *http.Request) { r.SetBasicAuth(name, secretOfUsers) }
		if name == "admin" {
			as = asAdmin
		}
		for _, path := range []string{"/rest/outrigger/1.0/audit?limit=1000", "/rest/outrigger/1.0/audit/export", "/rest/mtbs/1.0/configuration/audit?limit=1000"} {
			status, body := get(t, a.URL()+path, as)
			rules := strings.Count(body, `"object":"rule"`) + strings.Count(body, ",rule,")
			users := strings.Count(body, `"action":"create","object":"user"`) + strings.Count(body, ",create,user,")
			if strings.Contains(path, "mtbs") {
				want.users = 0
			}
			if status != http.StatusOK || rules != want.rules || users != want.users {
				t.Errorf("%s reads %d rules and %d users in %s, want %+v: %d %s", name, rules, users, path, want, status, body)
			}
			if strings.Contains(body, "SECRET") {
				t.Errorf("%s shows a secret: %s", path, body)
			}
			if strings.Contains(body, ",=1+1") {
				t.Errorf("a cell is a formula: %s", body)
			}
		}
	}
	for _, query := range []string{"?since=yesterday", "?after=x", "?limit=0"} {
		if status, body := get(t, a.URL()+"/rest/outrigger/1.0/audit"+query, asAdmin); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	for query, want := range map[string]string{"": "Download as CSV", "?area=notifications": "hooks.slack.com", "?who=nobody": "No matching changes"} {
		if status, page := consolePage(t, a, "/system/audit"+query, nil); status != http.StatusOK || !strings.Contains(page, want) || strings.Contains(page, "SECRET") {
			t.Errorf("%s: %d %s", query, status, page)
		}
	}
}
