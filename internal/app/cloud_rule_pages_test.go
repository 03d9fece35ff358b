package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/hook"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/secret"
)

const (
	cloudPlace    = "?connection=cloud&repository=shop&workspace=acme"
	cloudRuleList = "/notifications/cloud/rules" + cloudPlace
	cloudRuleNew  = "/notifications/cloud/rules/new" + cloudPlace
)

// sends posts a signed webhook of acme/shop, by the name of its sample and a
// number that its card shows.
func (b *person) sends(name string, seq int64) {
	b.t.Helper()
	samples := cloudsamples.Samples()
	i := slices.IndexFunc(samples, func(s cloudsamples.Sample) bool { return s.Name == name })
	body := samples[i].Render(cloudsamples.Place{Site: "https://bitbucket.org", Workspace: "acme", Repository: "shop"}, seq, b.a.clock())
	status, answer := get(b.t, b.a.URL()+"/hooks/cloud", func(r *http.Request) {
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("X-Request-UUID", fmt.Sprint(name, seq))
		r.Header.Set(hook.EventKeyHeader, samples[i].EventKey)
		r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	})
	if status != http.StatusAccepted {
		b.t.Fatalf("the webhook was answered %d %s", status, answer)
	}
}

// sees opens a page and looks for texts, of which those after "-" must not be
// there.
func (b *person) sees(path string, want int, texts ...string) string {
	b.t.Helper()
	status, _, body := b.send("GET", path, nil)
	b.reads(path, body, texts...)
	if status != want {
		b.t.Errorf("%s: %d, want %d", path, status, want)
	}
	return body
}

func (b *person) reads(path, body string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if text, no := strings.CutPrefix(text, "-"); strings.Contains(body, text) == no {
			b.t.Errorf("%s: %q is there: %t; %s", path, text, !no, body[max(0, strings.Index(body, "<main")):])
		}
	}
}

// A rule of a repository of the cloud edition, from its form to its message, and
// what becomes of it with its account.
func TestCloudRulesInABrowser(t *testing.T) {
	t.Parallel()
	messages := make(chan string, 10)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- string(body)
	}))
	t.Cleanup(sink.Close)
	a, _ := cloudWorld(t, func(cfg *config.Config) { cfg.Notify.AllowedNetworks = []string{"127.0.0.1"} })
	ada := newPerson(t, a, "ada")
	form := func(more ...string) url.Values {
		f := url.Values{
			"name": {"Broken builds"}, "webhookUrl": {sink.URL + "/invoke?sig=very-secret"}, "format": {"teams"}, "channelName": {"Builds"},
			"eventTypes": {"PIPELINE_FAILED", "BUILD_STATUS_SET"}, "expectedCommitStatus": {"FAILURE"}, "destinationBranchFilter": {"^main$"},
		}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}

	ada.sees("/notifications/cloud", 200, `href="/notifications/cloud/rules?connection=cloud`, "acme/shop", "Accounts", "no integration points")
	ada.sees(cloudRuleList, 200, "No rules yet", "Add a rule")
	ada.sees(cloudRuleNew, 200, "Expected commit status", "Destination branch filter", "Pipeline failed", "Issue created", "A new rule is enabled",
		"-Pull request deleted", "Quiet hours", "-Mention reviewers", "-Never these branches", "-Only events of these users", `-name="enabled"`, `-name="projectKey"`)

	// The form tries its filter, names every error at its field, and stays as it
	// was typed where there is no account to save it with.
	_, _, body := ada.send("POST", cloudRuleNew, form("do", "masks", "destinationBranchFilter", "^(?!main$)", "names", "main\r\nmaintenance"))
	ada.reads("the filter", body, "shortly after the event is received, because it needs backtracking", `<code>main</code></th><td data-label="Answer">no match`, `<code>maintenance</code></th><td data-label="Answer">match`)
	status, _, body := ada.send("POST", cloudRuleNew, form("name", "", "destinationBranchFilter", "(", "expectedCommitStatus", "GREEN", "webhookUrl", "http://elsewhere.example", "quietFrom", "6 pm"))
	for _, field := range []string{"quietFrom", "name", "destinationBranchFilter", "expectedCommitStatus", "webhookUrl"} {
		if status != 400 || !strings.Contains(body, `id="f-`+field+`-error"`) {
			t.Errorf("%d, and no error at %s", status, field)
		}
	}
	status, _, body = ada.send("POST", cloudRuleNew, form())
	ada.reads("without an account", body, "The rule is not saved", "authorise an account of the platform that administers it, under Notifications › Cloud › Accounts.", "-at /notifications", "Authorise an account", ">Issues<", "->Issues (cloud)<", `value="^main$"`, `value="PIPELINE_FAILED" checked`, `value="FAILURE" selected`)
	if status != http.StatusForbidden {
		t.Errorf("without an account: %d", status)
	}

	// With one, it is saved, listed, and takes failures on main.
	ada.consent(ada.leave("/notifications/cloud"), "grant")
	status, at, body := ada.send("POST", cloudRuleNew, form())
	ada.reads("saved", body, "The rule Broken builds is saved.", "^main$", "Builds", `aria-pressed="true"`, "-authorisation required")
	if status != 200 || at.Path != "/notifications/cloud/rules" {
		t.Fatalf("saving: %d at %s", status, at)
	}
	if _, at, _ := ada.send("GET", "/notifications/rules/1", nil); at.Path != "/notifications/cloud/rules/1" {
		t.Errorf("the rule's page is at %s", at)
	}
	_, _, body = ada.send("POST", "/notifications/cloud/rules/try"+cloudPlace, form())
	ada.reads("the trial", body, "No events have been received yet")
	ada.sends("pipeline-started", 1)
	ada.sends("pipeline-succeeded", 2)
	ada.sends("pipeline-failed", 3)
	if got := <-messages; !strings.Contains(got, "Pipeline #4 failed for main") {
		t.Errorf("the message is %s", got)
	}
	_, _, body = ada.send("POST", "/notifications/cloud/rules/try?id=1", form())
	ada.reads("the trial", body, "It would have taken 1 of the last 3 events.",
		"Expected commit status: the rule wants builds that failed or were stopped, the event has a build that succeeded.",
		"Expected commit status: the rule wants builds that failed or were stopped, the event has a build in progress.")

	// The list of repositories knows the webhook as the page of the rules does.
	if err := a.chat.store.SaveRepositoryWebhook(t.Context(), notify.RepositoryWebhook{
		Connection: "cloud", At: notify.RepositoryRef{ProjectKey: "acme", RepositoryKey: "shop"}, State: notify.WebhookSends, CheckedAt: a.clock(),
	}, nil); err != nil {
		t.Fatal(err)
	}
	ada.sees("/notifications/cloud", 200, `badge good">sends<`, "-none of its own")
	ada.sees("/", 200, "-The account “Ana”")
	bob, admin := newPerson(t, a, "bob"), newPerson(t, a, "admin")
	const ofShop = "1 rule of the repository acme/shop needs its account to be authorised again"

	// Withdrawn on the platform: the rule asks for its account, and goes on.
	if _, err := a.chat.store.WithdrawAuthorization(t.Context(), 1, 1, "The platform says invalid_grant.", a.clock()); err != nil {
		t.Fatal(err)
	}
	ada.sees(cloudRuleList, 200, "A rule needs its account to be authorised again", "authorisation required", "-paused")
	ada.sees("/notifications/cloud", 200, "authorisation required")
	ada.sees("/notifications/cloud/rules/1", 200, "The account Ana has to be authorised again", "The rule still takes the events that arrive")
	status, answer := get(t, a.URL()+"/rest/mtbs/1.0/cloud/acme/shop/rules"+"?connection=cloud&id=1", asAdmin)
	if status != 200 || !strings.Contains(answer, `"authorizationRequired":true,"authorizeUrl":"`+a.URL()+`/notifications/cloud/accounts"`) {
		t.Errorf("by REST: %d %s", status, answer)
	}
	for _, who := range []*person{ada, admin} {
		who.sees("/", 200, "The account “Ana” of “cloud”, which ada authorised, has had to be authorised again since ", "The platform says invalid_grant.",
			"Its rule (Broken builds of acme/shop) still takes events, but cannot be changed.", "-"+ofShop)
	}
	bob.sees("/", 200, ofShop, `href="/notifications/cloud/rules?connection=cloud`, "-The account “Ana”")
	ada.sends("pipeline-failed", 4)
	if got := <-messages; !strings.Contains(got, "Pipeline #5 failed for main") {
		t.Errorf("the message is %s", got)
	}

	// Revoked here: the rule takes nothing until the account is given again.
	ada.sees("/notifications/cloud/accounts/1/revoke", 200, "Outrigger stops using the account and deletes its tokens.",
		"the messages of 1 rule (Broken builds of acme/shop) about events that arrive before the account is authorised again")
	ada.send("POST", "/notifications/cloud/accounts/1/revoke", url.Values{})
	ada.sees(cloudRuleList, 200, "paused", "Its account Ana was revoked")
	ada.sees("/", 200, "The account “Ana” of “cloud”, which ada authorised, was revoked in Outrigger at ",
		"Its rule (Broken builds of acme/shop) takes no events until the account is authorised again.", `href="/notifications/cloud/accounts"`)
	bob.sees("/", 200, ofShop)
	ada.sends("pipeline-failed", 5)
	events := ada.sees("/notifications/events", 200)
	revoked := regexp.MustCompile(`/notifications/events/\d+`).FindString(events)
	ada.sees(revoked, 200,
		"Authorisation: Its account Ana, which ada authorised, was revoked in Outrigger. The rule takes no events until the account is authorised again.",
		`<a href="/notifications/cloud/accounts">Authorise an account</a>`, "-the rule wants", "-has none")
	ada.consent(ada.leave("/notifications/cloud"), "grant")
	ada.sees(cloudRuleList, 200, "-paused", "-authorisation required")
	bob.sees("/", 200, "-"+ofShop)
	ada.sees("/", 200, "-The account “Ana”")
	ada.sees(revoked, 200, "Authorisation: Its account Ana was revoked in Outrigger when the event came, and has been authorised again since.", "-Authorise an account")
	ada.sends("pipeline-failed", 6)
	if got := <-messages; !strings.Contains(got, "Pipeline #7 failed for main") {
		t.Errorf("the message is %s", got)
	}

	// The switch, a save that switches on again, and the end.
	status, at, body = ada.send("POST", "/notifications/cloud/rules/1/enabled", url.Values{"enabled": {"false"}})
	ada.reads("switched off", body, "The rule Broken builds is off", `aria-pressed="false"`)
	if status != 200 || at.Path != "/notifications/cloud/rules" {
		t.Errorf("switching off: %d at %s", status, at)
	}
	ada.sees("/notifications/cloud/rules/1", 200, "The rule is switched off. Saving switches it on.")
	_, _, body = ada.send("POST", "/notifications/cloud/rules/1", form("webhookUrl", "", "name", "Failures"))
	ada.reads("saved again", body, "The rule Failures is saved.", `aria-pressed="true"`)
	ada.sees("/notifications/cloud/rules/1/delete", 200, "Delete the rule Failures?")
	status, _, body = ada.send("POST", "/notifications/cloud/rules/1/delete", url.Values{})
	ada.reads("deleted", body, "The rule Failures is deleted.", "No rules yet")
	if status != 200 {
		t.Errorf("deleting: %d", status)
	}
}

// The pages of the cloud edition are for who administers the repository, and the
// self-hosted edition's offer nothing of the cloud's.
func TestCloudRulesOfOthersInABrowser(t *testing.T) {
	t.Parallel()
	a, _ := cloudWorld(t, func(cfg *config.Config) {
		cfg.Notify.Connections = append(cfg.Notify.Connections, config.Connection{Name: "dc", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com"})
	})
	ada, admin := newPerson(t, a, "ada"), newPerson(t, a, "admin")
	ada.consent(ada.leave(""), "grant")
	if status, _, body := ada.send("POST", cloudRuleNew, url.Values{
		"name": {"Mine"}, "webhookUrl": {"https://chat.example.com/invoke?sig=s"}, "format": {"teams"}, "eventTypes": {"TAG_CREATED"}, "expectedCommitStatus": {"BOTH"},
	}); status != 200 {
		t.Fatalf("saving: %d %s", status, body)
	}
	if _, err := a.identity.CreateUser(t.Context(), "eve", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "eve", identity.RepoAdmin, identity.Resource{Connection: "cloud", Project: "acme", Repository: "other"}); err != nil {
		t.Fatal(err)
	}
	eve := newPerson(t, a, "eve")
	eve.sees("/notifications/cloud", 200, "acme/other", "-acme/shop")
	for _, path := range []string{cloudRuleList, cloudRuleNew, "/notifications/cloud/rules/1", "/notifications/cloud/rules/1/delete", "/notifications/rules/1"} {
		eve.sees(path, 403, "-Mine")
	}
	for _, path := range []string{cloudRuleNew, "/notifications/cloud/rules/1", "/notifications/cloud/rules/1/enabled", "/notifications/cloud/rules/1/test", "/notifications/cloud/rules/1/delete"} {
		if status, _, _ := eve.send("POST", path, url.Values{"name": {"Eve's"}, "enabled": {"false"}}); status != 403 {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	newPerson(t, a, "bob").sees(cloudRuleList, 200, "Mine", "by ada")
	admin.sees("/notifications/cloud", 200, "acme/shop")
	admin.sees("/notifications/rules", 200, "-Mine")
	admin.sees("/notifications/rules?level=repository", 200, "-Mine")
	admin.sees("/notifications/rules/new", 200, `name="connection" value="dc"`, `-value="cloud"`)

	// The form of a report chooses none of several platforms by itself, and asks
	// the platform for the repository.
	admin.sees("/notifications/reports/new", 200, "Choose a connection", "cloud (cloud edition: workspace/repository)", "On a cloud platform: workspace/repository.", `-value="cloud" selected`)
	if _, err := a.identity.Grant(t.Context(), "ada", identity.RepoAdmin, identity.Resource{Connection: "cloud", Project: "acme", Repository: "nosuch"}); err != nil {
		t.Fatal(err)
	}
	report := url.Values{
		"name": {"Waiting"}, "connection": {"cloud"}, "repository": {"acme/nosuch"}, "webhookUrl": {"https://chat.example.com/invoke?sig=s"}, "format": {"teams"},
		"inactivityDays": {"14"}, "frequency": {"DAILY"}, "time": {"09:00"}, "timeZone": {"UTC"}, "enabled": {"true"},
	}
	status, _, body := ada.send("POST", "/notifications/reports/new", report)
	ada.reads("a repository that the platform does not have", body, "There is no repository acme/nosuch that the account may read.", `id="f-repository-error"`)
	if status != 400 {
		t.Errorf("a report of no repository: %d", status)
	}
	_, _, body = admin.send("POST", "/notifications/reports/new", report) // without an account, nothing can be asked
	admin.reads("not checked", body, "The report Waiting is saved. Whether the repository exists was not checked: No account of the platform of cloud is authorised to read acme/nosuch.")
	status, _, body = ada.send("POST", "/notifications/cloud/rules/new?connection=cloud&workspace=acme&repository=nosuch", url.Values{
		"name": {"Mine"}, "webhookUrl": {"https://chat.example.com/invoke?sig=s"}, "format": {"teams"}, "eventTypes": {"TAG_CREATED"}, "expectedCommitStatus": {"BOTH"},
	})
	ada.reads("a rule of no repository", body, "does not administer acme/nosuch on the platform, or there is no such repository.")
	if status != 403 {
		t.Errorf("a rule of no repository: %d", status)
	}
	if status, at, _ := admin.send("GET", "/notifications/cloud/rules"+"?connection=cloud", nil); status != 400 {
		t.Errorf("without a repository: %d at %s", status, at)
	}
}
