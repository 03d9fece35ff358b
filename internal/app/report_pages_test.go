package app

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// reported is a server with a played platform, of which a pull request waits,
// and a chat platform.
type reported struct {
	*App
	platform *playgroundtest.Bitbucket
	chat     *chatPlatform
}

func startReported(t *testing.T) *reported { return startReportedOn(t, settings(t), time.Now) }

func startReportedOn(t *testing.T, cfg *config.Config, clock func() time.Time) *reported {
	p := playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Projects: []bitbucket.Project{{Key: "ATL", Repositories: []bitbucket.Repository{{Slug: "canoe", PullRequests: []bitbucket.PullRequest{{
		ID: 7, Title: "A <b>bold</b> change", Author: "ana", Target: "main", Updated: time.Now().AddDate(0, 0, -40), Reviewers: []bitbucket.Reviewer{{Name: "bob"}},
	}}}, {Slug: "kayak"}}}}})
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: server.URL, WebhookSecret: secret.New("s"), Token: secret.New("right"),
	}}
	return &reported{App: startAt(t, cfg, clock), platform: p, chat: newChatPlatform(t)}
}

// form is a filled one, with some of its fields changed.
func (r *reported) form(more url.Values) url.Values {
	f := url.Values{
		"name": {"Waiting"}, "connection": {"dc"}, "repository": {"ATL/canoe"}, "webhookUrl": {r.chat.webhook("very-secret")}, "channelName": {"reviews"}, "format": {"auto"},
		"inactivityDays": {"14"}, "frequency": {"WEEKLY"}, "day": {"TUESDAY"}, "time": {"08:30"}, "timeZone": {"Asia/Kolkata"}, "enabled": {"true"},
	}
	maps.Copy(f, more)
	return f
}

const reportPages = "/notifications/reports"

// The pages of activity reports, as they are without JavaScript.
func TestReportPages(t *testing.T) {
	a := startReported(t)

	// An empty list says what to do; a new form has what suits most.
	_, body := consolePage(t, a.App, reportPages, nil)
	wants(t, "the empty list", body, "No activity reports yet", "/notifications/reports/new")
	_, body = consolePage(t, a.App, reportPages+"/new", nil)
	wants(t, "the new form", body, `name="enabled" value="true" checked`, `<option value="WEEKLY" selected>`, `<option value="Asia/Kolkata">`, `type="time"`, "Next: Monday")

	// Every error is at its field, and what was typed stays.
	status, body := consolePage(t, a.App, reportPages+"/new", a.form(url.Values{
		"name": {""}, "inactivityDays": {"366"}, "time": {"25:00"}, "timeZone": {"Europe/Atlantis"}, "targetBranchMask": {"("}, "repository": {"canoe"}, "webhookUrl": {""},
	}))
	if status != http.StatusBadRequest {
		t.Errorf("a wrong form: %d", status)
	}
	wants(t, "a wrong form", body, `value="Europe/Atlantis"`, `value="366"`, "Enter the repository as PROJECT/repository")
	for _, field := range []string{"name", "inactivityDays", "time", "timeZone", "targetBranchMask", "repository", "webhookUrl"} {
		if !strings.Contains(body, `id="f-`+field+`-error"`) {
			t.Errorf("no error at %s", field)
		}
	}

	// A test before saving sends the card and saves nothing.
	status, body = consolePage(t, a.App, reportPages+"/new", a.form(url.Values{"do": {"test"}}))
	if posts := a.chat.taken(); status != http.StatusOK || len(posts) != 1 || !strings.Contains(posts[0], "bold") {
		t.Errorf("tested: %d, posted %q", status, posts)
	}
	wants(t, "tested", body, "answered the test message with 202 Accepted", `value="Waiting"`)
	if _, body = consolePage(t, a.App, reportPages, nil); !strings.Contains(body, "No activity reports yet") {
		t.Error("the test saved the report")
	}

	// What it would send now is shown, or why that is not known; nothing is sent.
	for _, c := range []struct {
		typed url.Values
		want  string
	}{
		{url.Values{}, "1 open pull request, 1 inactive for 14 days or more"},
		{url.Values{"inactivityDays": {"60"}}, "1 open pull request, none inactive for 60 days or more"},
		{url.Values{"targetBranchMask": {"release/.*"}}, "0 open pull requests"},
		{url.Values{"repository": {"ATL/kayak"}}, "0 open pull requests"},
		{url.Values{"repository": {""}}, "Shows the message"},
		{url.Values{"repository": {"canoe"}, "inactivityDays": {"0"}}, "Enter the repository as PROJECT/repository, on a cloud platform as workspace/repository. Give a number of days"},
	} {
		c.typed.Set("do", "show")
		status, body := consolePage(t, a.App, reportPages+"/new", a.form(c.typed))
		_, part := consolePage(t, a.App, reportPages+"/preview", a.form(c.typed))
		if status != http.StatusOK || !strings.Contains(body, c.want) || !strings.Contains(part, c.want) || strings.Contains(part, "<form") {
			t.Errorf("%v: %d, no %q", c.typed, status, c.want)
		}
	}
	if posts := a.chat.taken(); len(posts) != 0 {
		t.Errorf("the preview sent %q", posts)
	}

	// The first button of the form, which Enter presses, saves. A day that is
	// hidden without being weekly does not count.
	if status, body = consolePage(t, a.App, reportPages+"/new", a.form(url.Values{"frequency": {"DAILY"}})); status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	_, body = consolePage(t, a.App, reportPages+"/1", nil)
	wants(t, "the saved form", body, `<option value="DAILY" selected>`, `value="08:30"`, `value="Asia/Kolkata"`, "ATL/canoe", "Asia/Kolkata</p>")
	theForm := body[strings.Index(body, `id="report"`):]
	if first := regexp.MustCompile(`<button[^>]*>`).FindString(theForm); strings.Contains(first, "name=") {
		t.Errorf("Enter presses %s", first)
	}
	if strings.Contains(body, "very-secret") {
		t.Error("the form shows the secret")
	}

	// The list says when it runs, in its own zone, and is narrowed to a repository.
	_, body = consolePage(t, a.App, reportPages, nil)
	wants(t, "the list", body, "Waiting", "reviews", "Every day at 08:30", "inactive for 14 days", ", 08:30", "Asia/Kolkata", "/notifications/reports/1/view",
		`aria-pressed="true"`, `<option value="ATL/canoe">`, "not run yet")
	if _, body = consolePage(t, a.App, reportPages+"?repository=atl/kayak", nil); !strings.Contains(body, "No reports here") {
		t.Error("another repository has the report")
	}
	if _, body = consolePage(t, a.App, reportPages+"?repository=ATL", nil); !strings.Contains(body, "Waiting") {
		t.Error("its project has not")
	}

	// The toggle, and deleting with a question.
	if status, _ = consolePage(t, a.App, reportPages+"/1/enabled", url.Values{"enabled": {"false"}}); status != http.StatusSeeOther {
		t.Errorf("switching off: %d", status)
	}
	if _, body = consolePage(t, a.App, reportPages, nil); !strings.Contains(body, `aria-pressed="false"`) {
		t.Error("the switch is still on")
	}
	_, body = consolePage(t, a.App, reportPages+"/1/delete", nil)
	wants(t, "the question", body, "Delete the report Waiting?")
	if status, _ = consolePage(t, a.App, reportPages+"/1/delete", url.Values{}); status != http.StatusSeeOther {
		t.Errorf("deleting: %d", status)
	}
	if _, body = consolePage(t, a.App, reportPages, nil); !strings.Contains(body, "No activity reports yet") {
		t.Error("it is still there")
	}
}

// The page that shows a report now, and what the platform says in its place.
func TestReportViewPage(t *testing.T) {
	a := startReported(t)
	if status, body := consolePage(t, a.App, reportPages+"/new", a.form(nil)); status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	status, body := consolePage(t, a.App, reportPages+"/1/view", nil)
	if status != http.StatusOK {
		t.Errorf("the view: %d", status)
	}
	wants(t, "the view", body, "1 open pull request, 1 inactive for 14 days or more", "&lt;b&gt;bold&lt;/b&gt;", `class="chat-card teams`, "Nothing was sent")
	if posts := a.chat.taken(); len(posts) != 0 {
		t.Errorf("the view sent %q", posts)
	}
	if status, _ = consolePage(t, a.App, reportPages+"/1/test?from=view", url.Values{}); status != http.StatusSeeOther || len(a.chat.taken()) != 1 {
		t.Errorf("sending it from there: %d", status)
	}

	a.platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: playgroundtest.Withholding})
	const refused = "401 Unauthorized, You are not permitted to access this resource. Give the connection&#39;s account the permission to read ATL/canoe (REPO_READ)"
	if status, body = consolePage(t, a.App, reportPages+"/1/view", nil); status != http.StatusServiceUnavailable {
		t.Errorf("the platform refuses: %d", status)
	}
	wants(t, "refused", body, refused, "The platform did not list the pull requests")
	status, body = consolePage(t, a.App, reportPages+"/1", a.form(url.Values{"do": {"test"}, "webhookUrl": {""}}))
	if status != http.StatusServiceUnavailable || len(a.chat.taken()) != 0 {
		t.Errorf("a test while it refuses: %d", status)
	}
	wants(t, "a test while it refuses", body, refused, `value="Waiting"`)
	status, body = consolePage(t, a.App, reportPages+"/preview?id=1", a.form(url.Values{"webhookUrl": {""}}))
	if status != http.StatusOK {
		t.Errorf("a preview while it refuses: %d", status)
	}
	wants(t, "a preview while it refuses", body, refused)
}

// wants holds a page to have texts.
func wants(t *testing.T, page, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s has no %q", page, text)
		}
	}
}
