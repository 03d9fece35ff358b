package app

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

// pushed has the platform say that a branch of ATL/canoe was pushed to.
func pushed(t *testing.T, a *App, branch string) {
	t.Helper()
	hooked(t, a, "repo:refs_changed", fmt.Sprintf(`{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
		"actor":{"name":"ada","displayName":"Ada Lovelace"},
		"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlantic"}},
		"changes":[{"ref":{"id":"refs/heads/%[1]s","displayId":"%[1]s","type":"BRANCH"},"refId":"refs/heads/%[1]s",
			"fromHash":"1111111111111111111111111111111111111111","toHash":"2222222222222222222222222222222222222222","type":"UPDATE"}]}`, branch))
}

// hooked posts a signed webhook.
func hooked(t *testing.T, a *App, key, body string) {
	t.Helper()
	hookedBy(t, a, "main", "hook secret", key, body)
}

// hookedBy is hooked for a connection and its secret.
func hookedBy(t *testing.T, a *App, connection, signedWith, key, body string) {
	t.Helper()
	if status := hookStatus(t, a, connection, signedWith, key, body); status != http.StatusAccepted {
		t.Fatalf("answered %d", status)
	}
}

// hookStatus sends a webhook and returns the status of the answer.
func hookStatus(t *testing.T, a *App, connection, signedWith, key, body string) int {
	t.Helper()
	r, err := http.NewRequest("POST", a.URL()+"/hooks/"+connection, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("X-Event-Key", key)
	r.Header.Set(hook.SignatureHeader, hook.Sign([]byte(body), secret.New(signedWith)))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// makeRule makes a rule by REST and gives its id.
func makeRule(t *testing.T, a *App, members string) string {
	t.Helper()
	body := fmt.Sprintf(`{"webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke?sig=secret",%s}`, members)
	status, answer := get(t, a.URL()+"/rest/mtbs/1.0/configuration/filter", asAdmin, func(r *http.Request) {
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(body))
	})
	if status != http.StatusCreated {
		t.Fatalf("%d: %s", status, answer)
	}
	return regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(answer)[1]
}

// A person finds out why an event was not sent, mends the rule, and sees that
// the next one is taken; what the first met is still said.
func TestEventPages(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	page := func(path string, want int, texts ...string) string {
		t.Helper()
		status, body := consolePage(t, a, path, nil)
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
	const list = "/notifications/events"
	page(list, 200, "No events", ">Every outcome</option>", ">Every type</option>", ">Every repository</option>", ">Any time</option>", ">last hour</option>")
	pushed(t, a, "first")
	page(list, 200, "Ada Lovelace", "ATL / canoe · first", "no rule took it")
	page(list+"/1", 200, "There were no rules yet", "Ada Lovelace (<code>ada</code>)")
	id := makeRule(t, a, `"name":"releases","eventTypes":["BRANCH_UPDATED"],"branchMask":"release/.*","channelName":"Releases"`)
	makeRule(t, a, `"name":"two projects","eventTypes":["BRANCH_DELETED"],"projects":["PAC","IND"]`)
	page("/notifications/rules", 200, "only projects PAC, IND")
	pushed(t, a, "main")
	page(list+"/2", 200, "did not take it", "Branch mask: the rule wants <code>release/.*</code>, the event has <code>main</code>.", `/notifications/rules/`+id)
	for path, texts := range map[string][]string{
		"/notifications/rules/new":          {"It would have taken 1 of the last 2 events.", "the event has <code>main</code>", `value="fir.*"`},
		"/notifications/rules/" + id:        {"It would have taken 1 of the last 2 events.", `value="fir.*"`},
		"/notifications/rules/try":          {"It would have taken 1 of the last 2 events.", list + "/2"},
		"/notifications/rules/try?id=" + id: {"It would have taken 1 of the last 2 events."},
	} {
		tried := url.Values{"do": {"try"}, "connection": {"main"}, "eventTypes": {"BRANCH_UPDATED"}, "branchMask": {"fir.*"}}
		status, body := consolePage(t, a, path, tried)
		if status != 200 || strings.HasPrefix(path, "/notifications/rules/try") == strings.Contains(body, "<html") {
			t.Errorf("trying on %s: %d %s", path, status, body)
		}
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("trying on %s does not say %q: %s", path, text, body)
			}
		}
		tried.Set("branchMask", "(")
		if status, body := consolePage(t, a, path, tried); !strings.Contains(body, "never closed") {
			t.Errorf("a wrong mask on %s: %d %s", path, status, body)
		}
	}
	// A form that changes is told of each wrong field, by its label.
	_, body := consolePage(t, a, "/notifications/rules/try", url.Values{"connection": {"main"}, "branchMask": {"("}, "quietFrom": {"10pm"}, "quietTo": {"06:00"}, "quietTimeZone": {"UTC"}})
	for _, text := range []string{"cannot be tried yet", "<strong>Branch mask:</strong>", "<strong>Quiet hours:</strong> Give the time at which they begin", "<strong>Events:</strong>"} {
		if !strings.Contains(body, text) {
			t.Errorf("a form with several wrong fields does not say %q: %s", text, body)
		}
	}
	if strings.Contains(body, "members are invalid") {
		t.Errorf("the form shows a message of the API: %s", body)
	}
	if status, _ := consolePage(t, a, "/notifications/rules/try?id=999", url.Values{}); status != 404 {
		t.Errorf("trying a rule that is not there: %d", status)
	}
	version := regexp.MustCompile(`name="version" value="(\d+)"`).FindStringSubmatch(page("/notifications/rules/"+id, 200))[1]
	if status, body := consolePage(t, a, "/notifications/rules/"+id, url.Values{
		"version": {version}, "name": {"all branches"}, "format": {"auto"}, "eventTypes": {"BRANCH_UPDATED"}, "enabled": {"true"},
	}); status != 303 {
		t.Fatalf("%d: %s", status, body)
	}
	pushed(t, a, "third")
	took := page(list+"/3", 200, "taken by 1 rule", "took it", "All of its filters are met.", "/notifications/deliveries/1")
	if strings.Contains(took, "changed since") {
		t.Error("the rule is not as it was, it says")
	}
	page(list+"/2", 200, "releases", "changed since by admin", "the event has <code>main</code>")
	page("/notifications/deliveries/1", 200, list+"/3")
	hooked(t, a, "repo:refs_changed", `{"eventKey":"repo:refs_changed","odd":"<b>"}`)
	page("/", 200, "1 webhook of the last 24 h was not understood", list+"?outcome=not_understood")
	page(list+"?outcome=not_understood", 200, "not understood", list+"/4")
	page(list+"/4", 200, "&#34;odd&#34;:&#34;&lt;b&gt;&#34;", "as the platform sent it", `<pre tabindex="0" role="group" aria-label="Body">`)
	if body := page(list+"?outcome=taken", 200, "third"); strings.Contains(body, "· main") {
		t.Error("an event that was not taken is among those that were")
	}
	page(list+"?place=main/ATL/canoe&since=1h&type=BRANCH_UPDATED", 200, "third", "· first")
	page(list+"?place=main/PAC", 200, "No matching events")
	page(list+"/999", 404)
	page(list+"/x", 404)
	page(list+"/2?after=x", 404)
}

func TestEventPagesOfAProject(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	pushed(t, a, "main")
	hooked(t, a, "repo:refs_changed", `{"eventKey":"repo:refs_changed"}`)
	makeRule(t, a, `"name":"everything","eventTypes":["BRANCH_UPDATED"]`)
	pushed(t, a, "next")
	for name, project := range map[string]string{"ana": "ATL", "bob": "PAC"} {
		if _, err := a.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.identity.Grant(t.Context(), name, identity.ProjectAdmin, identity.Resource{Connection: "main", Project: project}); err != nil {
			t.Fatal(err)
		}
	}
	see := func(name, path string) (int, string) {
		t.Helper()
		session, _, err := a.identity.SignIn(t.Context(), name, password, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		return get(t, a.URL()+path, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		})
	}
	const list = "/notifications/events"
	if status, body := see("ana", list); status != 200 || !strings.Contains(body, "ATL / canoe") || strings.Contains(body, "not understood</span>") {
		t.Errorf("the list: %d %s", status, body)
	}
	if status, body := see("bob", list); status != 200 || strings.Contains(body, "canoe") {
		t.Errorf("the list of another project: %d %s", status, body)
	}
	if status, body := see("ana", list+"/3"); status != 200 || !strings.Contains(body, "which you do not administer, took it") || strings.Contains(body, "everything") {
		t.Errorf("an event that a global rule took: %d %s", status, body)
	}
	for path, want := range map[string][2]int{list + "/1": {200, 403}, list + "/2": {403, 403}, list + "?place=main/ATL": {200, 403}} {
		for i, name := range []string{"ana", "bob"} {
			if status, body := see(name, path); status != want[i] {
				t.Errorf("%s as %s: %d, want %d: %s", path, name, status, want[i], body)
			}
		}
	}
}
