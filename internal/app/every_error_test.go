package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// refusedFields asks as the administrator, and returns the fields that the answer
// names, sorted; the answer must be 400.
func refusedFields(t *testing.T, a *App, method, path, body string) string {
	t.Helper()
	status, answer := put(t, a, method, path, body)
	var refusal struct{ Errors []struct{ Field string } }
	if err := json.Unmarshal([]byte(answer), &refusal); status != 400 || err != nil {
		t.Errorf("%s %s %s answered %d %s", method, path, body, status, answer)
		return ""
	}
	var fields []string
	for _, e := range refusal.Errors {
		fields = append(fields, e.Field)
	}
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

// A member or parameter that cannot be read does not hide what is wrong with the
// others: one answer names them all.
func TestEveryErrorIsNamedAtOnce(t *testing.T) {
	const (
		own   = "/rest/outrigger/1.0"
		chat  = "/rest/mtbs/1.0/configuration"
		build = "/hooks/main/builds/0123456789012345678901234567890123456789"
		cloud = "/rest/mtbs/1.0/cloud/atlas/engine/rules"
	)
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{
		{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret")},
		{Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: "https://bitbucket.org", WebhookSecret: secret.New("hook secret")},
	}
	a := start(t, cfg)
	if status, answer := put(t, a, "POST", own+"/connections", `{"name":"stored","kind":"bitbucket-dc","baseUrl":"https://git.example.com"}`); status != 201 {
		t.Fatal(status, answer)
	}
	for _, c := range []struct{ method, path, body, fields string }{
		{"POST", own + "/connections", `{"name":"No Name","kind":"svn","baseUrl":"nope","bogus":1}`, "baseUrl bogus kind name"},
		{"POST", own + "/connections", `{"name":"fine","kind":"bitbucket-dc","baseUrl":"https://git.example.com","bogus":1}`, "bogus"},
		{"PUT", own + "/connections/stored", `{"name":"other","kind":"svn","baseUrl":"nope","bogus":1}`, "baseUrl bogus kind name"},
		{"PUT", own + "/connections/stored", `{"baseUrl":"https://git.example.com","bogus":1}`, "bogus"},
		{"POST", own + "/connections/main/hooks", `{"name":"No Name","repositoryKey":"canoe","bogus":1}`, "bogus name projectKey"},
		{"POST", own + "/connections/main/hooks", `{"name":"canoe","bogus":1}`, "bogus"},
		{"POST", build, `{"state":"NOPE","key":"","bogus":1}`, "bogus key state"},
		{"POST", build, `{"state":"FAILED","key":"unit","bogus":1}`, "bogus"},
		{"PUT", chat + "/settings", `{"proxyUrl":"ftp://x","version":"1"}`, "proxyUrl version"},
		{"PUT", chat + "/settings", `{"bogus":1}`, "bogus"},
		{"POST", chat + "/settings/test", `{"proxyUrl":"ftp://x","url":"nope","bogus":1}`, "bogus proxyUrl url"},
		{"PUT", chat + "/channels/none", `{"name":"` + strings.Repeat("x", 256) + `","bogus":1}`, "bogus name"},
		{"PUT", chat + "/channels/none", `{"bogus":1}`, "bogus"},
		{"POST", chat + "/filter/try-branch", `{"branchMask":"(","names":[],"bogus":1}`, "bogus branchMask names"},
		{"POST", chat + "/filter/try-branch", `{"branchMask":"main","names":["main"],"bogus":1}`, "bogus"},
		{"POST", own + "/mail/delete", `{"state":"sent","age":"old","bogus":1}`, "age bogus state"},
		{"POST", own + "/mail/delete", `{"bogus":1}`, "all bogus"},
		{"POST", own + "/mail/delete", `{"node":1,"age":"1d"}`, "node"},
		{"POST", own + "/mail/resend", `{"state":"sent","age":"old","bogus":1}`, "age bogus state"},
		{"POST", own + "/mail/flush", `{"state":1,"age":"old"}`, "age state"},
		{"POST", own + "/mail/flush", `{"age":"old","asOf":"2026-02-05T16:20:11Z"}`, "age count"},
		{"GET", own + "/mail/count?state=sent&age=old", "", "age state"},
		{"GET", own + "/mail/messages?limit=0&after=!&state=sent&age=old", "", "after age limit state"},
		{"GET", own + "/audit?limit=0&after=!&since=x&until=y", "", "after limit since until"},
		{"GET", chat + "/audit?limit=0&after=!&since=x&until=y", "", "after limit since until"},
		{"GET", chat + "/deliveries?limit=0&after=!&filterId=x&reportId=0&state=y", "", "after filterId limit reportId state"},
		{"GET", chat + "/events?limit=0&after=!&outcome=x&eventType=y&since=x&until=y", "", "after eventType limit outcome since until"},
		{"GET", chat + "/reports?limit=0&after=!&connection=none", "", "after connection limit"},
		{"GET", chat + "/reports?limit=0&projectKey=ATL&repositoryKey=canoe&connection=none", "", "connection limit"},
		{"POST", chat + "/deliveries/redeliver?id=x&state=y", "", "id state"},
		{"POST", chat + "/deliveries/redeliver?filterId=x&state=y&asOf=z", "", "asOf count filterId state"},
		{"GET", chat + "/deliveries/redeliver?filterId=x&state=y", "", "filterId state"},
		{"POST", chat + "/deliveries/cancel?id=x&filterId=y", "", "filterId id"},
		{"PUT", chat + "/filter/enabled?id=x&enabled=y", "", "enabled id"},
		{"PUT", chat + "/reports/enabled?id=x", "", "enabled id"},
		{"PUT", cloud + "/enabled?id=x&enabled=y&connection=none", "", "connection enabled id"},
		{"DELETE", cloud + "?id=x&connection=none", "", "connection id"},
		{"POST", cloud + "?connection=none", `{"name":1,"bogus":1}`, "bogus connection expectedEvents name webhookUrl"},
	} {
		if got := refusedFields(t, a, c.method, c.path, c.body); got != c.fields {
			t.Errorf("%s %s %s names %q, want %q", c.method, c.path, c.body, got, c.fields)
		}
	}
	// What was refused is not there.
	if status, answer := put(t, a, "GET", own+"/connections/fine", ""); status != 404 {
		t.Errorf("%d %s", status, answer)
	}
}
