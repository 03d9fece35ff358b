package app

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Rules, channels, reports, events and deliveries are found by name and by number, by
// those who administer them alone.
func TestThingsAreFound(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	for _, rule := range []struct{ name, project, channel string }{{"canoes", "ATL", "paddlers"}, {"kayaks", "PAC", "rowers"}, {"everything", "", "harbour"}} {
		status, answer := put(t, a, "POST", "/rest/mtbs/1.0/configuration/filter", `{"name":"`+rule.name+`","projectKey":"`+rule.project+`","eventTypes":["BRANCH_UPDATED"],"channelName":"`+rule.channel+`",
			"webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/`+rule.channel+`/triggers/manual/paths/invoke?sig=secret"}`)
		if status != http.StatusCreated {
			t.Fatal(status, answer)
		}
	}
	status, answer := put(t, a, "POST", "/rest/mtbs/1.0/configuration/reports", `{"name":"canoe reviews","projectKey":"ATL","repositoryKey":"canoe","inactivityDays":3,"frequency":"DAILY","time":"09:00","timeZone":"UTC",
		"webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/paddlers/triggers/manual/paths/invoke?sig=secret"}`)
	if status != http.StatusCreated {
		t.Fatal(status, answer)
	}
	pushed(t, a, "feature/oars")
	if _, err := a.identity.CreateUser(t.Context(), "pam", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "pam", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "PAC"}); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`<li><a href="([^"]*)"><span class="kind">([^<]*)</span>`)
	finds := func(user, query string, want ...string) {
		t.Helper()
		session, _, err := a.identity.SignIn(t.Context(), user, password, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		_, page := get(t, a.URL()+"/find?q="+url.QueryEscape(query), func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		})
		var found []string
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if m[2] != "Page" {
				found = append(found, m[2]+" "+m[1][strings.LastIndex(m[1], "/")+1:])
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s finds %q for %q, want %q", user, found, query, want)
		}
	}
	finds("admin", "CANOES", "Rule 1")
	finds("admin", "paddl", "Channel 1")
	finds("admin", "canoe rev", "Report 1")
	finds("admin", "#2", "Delivery 2", "Rule 2", "Channel 2")
	finds("admin", "1", "Delivery 1", "Event 1", "Rule 1", "Channel 1", "Report 1")
	finds("admin", "ada LOVELACE oars", "Event 1", "Delivery 1")
	finds("admin", "ada lovelace sails")
	finds("admin", "%", []string(nil)...)
	finds("pam", "kayaks", "Rule 2")
	finds("pam", "rowers", "Channel 2")
	for _, query := range []string{"canoes", "paddlers", "harbour", "canoe reviews", "1", "oars", "3"} {
		finds("pam", query)
	}
}
