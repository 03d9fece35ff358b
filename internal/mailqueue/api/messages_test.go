package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

func TestAdministerMail(t *testing.T) {
	s := newServer(t)
	s.Relay.Mail = mailqueuetest.Messages()
	s.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1", Sizes: mailqueue.Sizes{Size: 2, ErrorSize: 1}, Oldest: mailqueuetest.QueuedAt, Paused: true, HeldUntil: mailqueuetest.QueuedAt, HeldFor: "454 no"}}
	for _, test := range []struct {
		name, method, path, who, body string
		status                        int
	}{
		{"queues", "GET", "", "admin", "", 200},
		{"messages", "GET", "/messages", "admin", "", 200},
		{"errors", "GET", "/messages?state=error&node=node_1", "admin", "", 200},
		{"page", "GET", "/messages?limit=1", "admin", "", 200},
		{"next", "GET", "/messages?limit=1&after=cX0HyzE", "admin", "", 200},
		{"wrong", "GET", "/messages?state=sent&after=YQ", "admin", "", 400},
		{"message", "GET", "/messages/1", "admin", "", 200},
		{"missing", "GET", "/messages/99", "root", "", 404},
		{"missing-for-admin", "GET", "/messages/99", "admin", "", 403},
		{"no-number", "DELETE", "/messages/x", "root", "", 404},
		{"resend", "POST", "/messages/2/resend", "admin", "", 204},
		{"resend-missing", "POST", "/messages/99/resend", "root", "", 404},
		{"delete", "DELETE", "/messages/1", "admin", "", 204},
		{"resend-all", "POST", "/resend", "admin", `{"node":"node_1"}`, 200},
		{"resend-some", "POST", "/resend", "admin", `{"recipient":"@old.example","age":"3d"}`, 200},
		{"flush", "POST", "/flush", "admin", "{}", 200},
		{"delete-some", "POST", "/delete", "admin", `{"state":"error","sender":"jira","subject":"x"}`, 200},
		{"delete-all", "POST", "/delete", "admin", `{"all":true}`, 200},
		{"delete-nothing", "POST", "/delete", "admin", `{}`, 400},
		{"delete-wrong", "POST", "/delete", "admin", `{"state":"sent","age":"old"}`, 400},
		{"delete-forbidden", "POST", "/delete", "repo", `{"all":true}`, 403},
		{"count", "GET", "/count?state=waiting", "admin", "", 200},
		{"count-wrong", "GET", "/count?state=sent", "admin", "", 400},
		{"count-forbidden", "GET", "/count", "repo", "", 403},
		{"delete-asked", "POST", "/delete", "admin", `{"all":true,"asOf":"2026-02-05T17:20:11.5+01:00","count":26}`, 200},
		{"delete-asked-without-count", "POST", "/delete", "admin", `{"all":true,"asOf":"2026-02-05T16:20:11Z"}`, 400},
		{"flush-asked-without-time", "POST", "/flush", "admin", `{"count":2}`, 400},
		{"flush-asked-wrong", "POST", "/flush", "admin", `{"asOf":"2026-02-05T16:20:11Z","count":-2}`, 400},
		{"pause", "POST", "/pause", "admin", `{"node":"node_1"}`, 204},
		{"resume", "POST", "/resume", "admin", "{}", 204},
		{"unknown-member", "POST", "/flush", "admin", `{"nodes":"x"}`, 400},
		{"forbidden", "POST", "/flush", "repo", "{}", 403},
	} {
		w := s.do(test.method, MailPath+test.path, test.who, "", test.body)
		if w.Code != test.status {
			t.Errorf("%s: %d %s", test.name, w.Code, w.Body)
		}
		if slices.Contains([]string{"queues", "messages", "page", "message", "wrong", "missing", "count"}, test.name) {
			golden(t, "mail-"+test.name+".json", w.Body.String())
		}
	}
	want := []string{"resend 2", "delete 1", `resend map[node:node_1]`, `resend map[age:72h0m0s recipient:@old.example]`, `flush map[]`,
		`delete map[sender:jira state:error subject:x]`, `delete map[]`, `delete map[asOf:2026-02-05T16:20:11.5Z count:26]`, `pause "node_1" true`, `pause "" false`}
	if diff := cmp.Diff(want, s.Relay.Did); diff != "" {
		t.Error(diff)
	}
}

// The bytes of a message are a file, not a page.
func TestContent(t *testing.T) {
	s := newServer(t)
	s.Relay.Mail = mailqueuetest.Messages()
	w := s.do("GET", MailPath+"/messages/1/content", "admin", "application/json", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "message/rfc822" || w.Header().Get("Content-Disposition") != `attachment; filename="message-1.eml"` ||
		w.Body.String() != "Subject: <b>x</b>\r\n\r\nbytes \xff\r\n" {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	if w := s.do("GET", MailPath+"/messages/9/content", "root", "", ""); w.Code != http.StatusNotFound || len(s.Relay.Did) != 1 {
		t.Errorf("%d, %v", w.Code, s.Relay.Did)
	}
}
