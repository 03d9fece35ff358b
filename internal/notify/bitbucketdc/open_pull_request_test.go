package bitbucketdc

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify"
)

func TestOpenPullRequest(t *testing.T) {
	const target = `"toRef":{"id":"refs/heads/main","displayId":"main","repository":{"slug":"web","project":{"key":"SHOP"}}}`
	const personal = `"toRef":{"id":"refs/heads/main","repository":{"slug":"dots","project":{"key":"~ANA","type":"PERSONAL","owner":{"slug":"ana"}}}}`
	whole := notify.OpenPullRequest{
		ID: 7, Title: "Faster cart", Author: notify.User{Name: "ana", DisplayName: "Ana Silva", Email: "ana@example.com"}, Target: "main", Draft: true,
		Updated: time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC), URL: base + "/projects/SHOP/repos/web/pull-requests/7",
		Reviewers: []notify.Reviewer{{User: notify.User{Name: "bob"}, Approved: true}, {User: notify.User{Name: "eve"}}, {User: notify.User{Name: "joe"}, Approved: true}},
	}
	const rest = `"id":7,"title":"Faster cart","draft":true,"author":{"user":{"name":"ana","displayName":"Ana Silva","emailAddress":"ana@example.com"}},
		"reviewers":[{"user":{"name":"bob"},"approved":true,"status":"APPROVED"},{"user":{"name":"eve"},"approved":false,"status":"NEEDS_WORK"},{"user":{"name":"joe"},"status":"APPROVED"}],` + target
	for name, c := range map[string]struct {
		body string
		want notify.OpenPullRequest
	}{
		"milliseconds": {`{"createdDate":1,"updatedDate":1793611800000,` + rest + `}`, whole},
		"ISO 8601":     {`{"updatedDate":"2026-11-02T10:30:00+0100",` + rest + `}`, whole},
		"its own link": {`{"id":1,"links":{"self":[{"href":"https://other.example.com/1"}]},` + target + `}`,
			notify.OpenPullRequest{ID: 1, Target: "main", URL: "https://other.example.com/1"}},
		"a link that is no web address": {`{"id":1,"links":{"self":[{"href":"javascript:alert(1)"}]}}`, notify.OpenPullRequest{ID: 1}},
		"personal":                      {`{"id":2,` + personal + `}`, notify.OpenPullRequest{ID: 2, Target: "main", URL: base + "/users/ana/repos/dots/pull-requests/2"}},
		"never updated":                 {`{"id":3,"createdDate":1000,"updatedDate":null}`, notify.OpenPullRequest{ID: 3, Updated: time.Unix(1, 0).UTC()}},
		"all null": {`{"id":4,"title":null,"draft":null,"toRef":null,"author":null,"reviewers":null,"links":null,"createdDate":null,"updatedDate":null}`,
			notify.OpenPullRequest{ID: 4}},
		"null inside": {`{"id":5,"toRef":{"id":null,"displayId":null,"repository":null},"author":{"user":null},"reviewers":[null,{"user":null,"approved":null}],"links":{"self":[null]}}`,
			notify.OpenPullRequest{ID: 5, Reviewers: []notify.Reviewer{{}, {}}}},
		"other shapes": {`{"id":"6","title":["x"],"draft":"yes","toRef":"main","author":9,"reviewers":{"a":1},"links":[],"updatedDate":{}}`, notify.OpenPullRequest{ID: 6}},
		"null":         {`null`, notify.OpenPullRequest{}},
		"a list":       {`[{"id":1}]`, notify.OpenPullRequest{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, OpenPullRequest([]byte(c.body), base+"/")); diff != "" {
				t.Error(diff)
			}
		})
	}
	if long := OpenPullRequest([]byte(`{"id":1,"title":"`+strings.Repeat("é", 5000)+`"}`), base).Title; len(long) > 2*notify.MaxText {
		t.Errorf("a title of %d bytes is kept", len(long))
	}
}
