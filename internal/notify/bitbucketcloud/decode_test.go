package bitbucketcloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// decodeOne decodes what gives one event.
func decodeOne(t *testing.T, key, body string) notify.Event {
	t.Helper()
	_, events, err := Decode(key, []byte(body), base+"/")
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	return events[0]
}

func TestPushTypes(t *testing.T) {
	ref := func(kind, name, hash string) string {
		return fmt.Sprintf(`{"type":%q,"name":%q,"target":{"hash":%q,"parents":[{"hash":"a1"}],"message":"x"}}`, kind, name, hash)
	}
	change := func(before, after, more string) string { return `{"old":` + before + `,"new":` + after + more + `}` }
	a1, b2 := ref("branch", "a", "a1"), ref("branch", "a", "b2")
	tag1, tag2 := ref("tag", "t", "a1"), ref("annotated_tag", "t", "b2")
	online := func(parents string) string {
		return `{"type":"branch","name":"a","target":{"hash":"b2","message":"a.txt edited online with Bitbucket\n\nwhy","parents":[` + parents + `]}}`
	}
	for name, c := range map[string]struct{ changes, want string }{
		"none":                 {``, ""},
		"branch created":       {change("null", b2, ""), "BRANCH_CREATED"},
		"branch updated":       {change(a1, b2, ""), "BRANCH_UPDATED"},
		"branch deleted":       {change(a1, "null", ""), "BRANCH_DELETED"},
		"named branch":         {change(ref("named_branch", "a", "a1"), "null", ""), "BRANCH_DELETED"},
		"tag created":          {change("null", tag1, ""), "TAG_CREATED"},
		"annotated":            {change("null", tag2, ""), "TAG_CREATED"},
		"tag updated":          {change(tag1, tag2, ""), "TAG_UPDATED"},
		"tag deleted":          {change(tag2, "null", ""), "TAG_DELETED"},
		"several":              {change(a1, b2, "") + "," + change("null", tag1, "") + "," + change(a1, "null", ""), "BRANCH_UPDATED TAG_CREATED BRANCH_DELETED"},
		"old not given":        {`{"new":` + b2 + `}`, "BRANCH_CREATED"},
		"edited online":        {change(a1, online(`{"hash":"a1"}`), ""), "FILE_EDITED+BRANCH_UPDATED"},
		"edited, of one":       {change(a1, online(`{"hash":"a1"}`), `,"commits":[{"hash":"b2"}]`), "FILE_EDITED+BRANCH_UPDATED"},
		"edited, and more":     {change(a1, online(`{"hash":"a1"}`), `,"commits":[{"hash":"b2"},{"hash":"b1"}]`), "BRANCH_UPDATED"},
		"edited, of many":      {change(a1, online(`{"hash":"a1"}`), `,"truncated":true`), "BRANCH_UPDATED"},
		"edited, after others": {change(a1, online(`{"hash":"a9"}`), ""), "BRANCH_UPDATED"},
		"merged":               {change(a1, online(`{"hash":"a1"},{"hash":"a0"}`), ""), "BRANCH_UPDATED"},
		"created online":       {change("null", online(`{"hash":"a1"}`), ""), "BRANCH_CREATED"},
	} {
		if got := typesOf(t, "repo:push", `{"push":{"changes":[`+c.changes+`]}}`); got != c.want {
			t.Errorf("%s gives %q, want %q", name, got, c.want)
		}
	}
}

// A status is a pipeline's where it leads to the run's page in the repository.
// A build server elsewhere may give its builds any name.
func TestPipelinesAmongStatuses(t *testing.T) {
	const run = `"key":"3343801","name":"Pipeline #4 for main"`
	const page = "https://bitbucket.org/atlas/engine"
	for _, c := range []struct{ status, want string }{
		{run + `,"state":"INPROGRESS","url":"` + page + `/addon/pipelines/home#!/results/4"`, "PIPELINE_STARTED+BUILD_STATUS_SET"},
		{run + `,"state":"SUCCESSFUL","url":"` + page + `/pipelines/results/4"`, "PIPELINE_SUCCEEDED+BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":"https://bitbucket.org/Atlas/Engine/pipelines/results/4"`, "PIPELINE_FAILED+BUILD_STATUS_SET"},
		{`"key":"-77","name":"Nightly","state":"STOPPED","url":"` + page + `/pipelines/results/4"`, "PIPELINE_STOPPED+BUILD_STATUS_SET"},
		{run + `,"state":"FAILED"`, "PIPELINE_FAILED+BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":null`, "PIPELINE_FAILED+BUILD_STATUS_SET"},
		{`"key":"4","name":"Tests","state":"FAILED"`, "BUILD_STATUS_SET"},
		{`"key":"tests","name":"Pipeline #4 for main","state":"FAILED"`, "BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":"https://ci.example.com/atlas/engine/pipelines/results/4"`, "BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":"` + page + `-fork/pipelines/results/4"`, "BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":"` + page + `/src/pipelines/results"`, "BUILD_STATUS_SET"},
		{run + `,"state":"FAILED","url":"` + page + `"`, "BUILD_STATUS_SET"},
		{run + `,"state":"QUEUED","url":"` + page + `/pipelines/results/4"`, "BUILD_STATUS_SET"},
	} {
		for _, key := range []string{"repo:commit_status_created", "repo:commit_status_updated"} {
			body := `{"repository":{"full_name":"atlas/engine"},"commit_status":{` + c.status + `}}`
			if got := typesOf(t, key, body); got != c.want {
				t.Errorf("%s gives %q, want %q", c.status, got, c.want)
			}
		}
	}
}

func TestStatusesOfOlderAndOtherShapes(t *testing.T) {
	e := decodeOne(t, "repo:commit_status_updated", `{"repository":{"full_name":"atlas/engine"},"commit_status":{"key":"k","name":null,"state":"FAILED","refname":null,
		"links":{"commit":{"href":"https://api.bitbucket.org/2.0/repositories/atlas/engine/commit/ab12"}},"updated_on":"2015-11-20T08:01:16.433108+00:00"}}`)
	if e.Branch != "" || e.Build.Commit != "ab12" || e.URL != base+"/atlas/engine/commits/ab12" || e.At.IsZero() || e.Build.Key != "k" {
		t.Errorf("%+v %+v", e, e.Build)
	}
	e = decodeOne(t, "repo:commit_status_created", `{"commit_status":{"key":"k","refname":"refs/heads/a/b","url":"javascript:alert(1)"}}`)
	if e.Branch != "a/b" || e.Build.URL != "" {
		t.Errorf("%+v %+v", e, e.Build)
	}
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		header, body, key string
		wrong             error
	}{
		{"repo:frobbed", `{}`, "repo:frobbed", notify.ErrUnknownKey},
		{"diagnostics:ping", `{}`, "diagnostics:ping", notify.ErrUnknownKey},
		{"", `{"eventKey":"pr:opened"}`, "pr:opened", notify.ErrUnknownKey}, // of the other edition
		{"pr:opened", `{"eventKey":"pr:opened"}`, "pr:opened", notify.ErrUnknownKey},
	} {
		key, events, err := Decode(c.header, []byte(c.body), base)
		if key != c.key || !errors.Is(err, c.wrong) || events != nil {
			t.Errorf("%q with %s: %q, %v", c.header, c.body, key, err)
		}
	}
	for _, c := range []struct{ header, body, reason string }{
		{"repo:push", `{"eventKey":"pr:opened"}`, "must be the same"},
		{"repo:push", `{`, "cut off"},
		{"repo:push", "{\"a\":\"\xff\"}", "not UTF-8"},
	} {
		if _, _, err := Decode(c.header, []byte(c.body), base); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q with %s: %v", c.header, c.body, err)
		}
	}
}

func TestNotUnderstood(t *testing.T) {
	for _, c := range []struct{ key, body, reason string }{
		{"repo:push", `[]`, "not an object"},
		{"repo:push", `null`, "not an object"},
		{"repo:push", `{"push":null}`, "no push"},
		{"repo:push", `{"push":{"changes":[{}]}}`, "names no branch"},
		{"repo:push", `{"push":{"changes":[{"new":{"type":"branch","name":null}}]}}`, "names no branch"},
		{"pullrequest:created", `{"pullrequest":null}`, "no pullrequest"},
		{"pullrequest:created", `{"pullrequest":{"id":null}}`, "no pullrequest with an id"},
		{"pullrequest:approved", `{"test":true}`, "no pullrequest"},
		{"pullrequest:comment_created", `{}`, "no comment"},
		{"repo:commit_status_created", `{"commit_status":[]}`, "no commit_status"},
		{"repo:commit_status_created", `{"commit_status":{"state":"FAILED"}}`, "no key"},
		{"repo:created", `{"repository":null}`, "no repository"},
		{"repo:deleted", `{"repository":{"full_name":"engine"}}`, "no repository"},
		{"repo:transfer", `{"repository":{"full_name":"a/b/c"}}`, "no repository"},
		{"repo:fork", `{"fork":{"name":"x"}}`, "no fork"},
		{"repo:updated", `{"changes":null}`, "no changes"},
		{"project:updated", `{"project":{"name":"x"}}`, "no project with a key"},
		{"issue:created", `{"issue":{"id":"x"}}`, "no issue with an id"},
	} {
		_, events, err := Decode(c.key, []byte(c.body), base)
		if !errors.Is(err, notify.ErrNotUnderstood) || !strings.Contains(err.Error(), c.reason) || events != nil {
			t.Errorf("%s of %s: %v, %v", c.key, c.body, events, err)
		}
	}
}

// The bodies of a verified sender are never refused for what they say: what differs
// a little from what is expected is the event that its key names, and what belongs
// to another one is kept as not understood, with what tells.
func TestBodiesThatDiffer(t *testing.T) {
	pr := func(state, more string) string {
		return `{"pullrequest":{"id":1,"state":"` + state + `"}` + more + `}`
	}
	const approval, comment = `,"approval":{"date":"2026-11-20T12:00:00+00:00"}`, `,"comment":{"id":1,"deleted":false}`
	for _, c := range []struct{ key, body, types string }{
		{"pullrequest:created", pr("MERGED", ""), "PULL_REQUEST_OPENED"},
		{"pullrequest:created", pr("OPEN", approval), "PULL_REQUEST_OPENED"},
		{"pullrequest:created", pr("DECLINED", approval+comment), "PULL_REQUEST_OPENED"},
		{"pullrequest:created", pr("SOMETHING_NEW", ""), "PULL_REQUEST_OPENED"},
		{"pullrequest:updated", pr("MERGED", approval), "PULL_REQUEST_FIELD_EDITED"},
		{"pullrequest:push", pr("DECLINED", ""), "PULL_REQUEST_RESCOPED"},
		{"pullrequest:fulfilled", pr("MERGED", comment), "PULL_REQUEST_MERGED"},
		{"pullrequest:fulfilled", pr("SOMETHING_NEW", ""), "PULL_REQUEST_MERGED"},
		{"pullrequest:rejected", pr("SUPERSEDED", ""), "PULL_REQUEST_DECLINED"},
		{"pullrequest:rejected", pr("DECLINED", approval), "PULL_REQUEST_DECLINED"},
		{"pullrequest:approved", pr("MERGED", approval+comment), "PULL_REQUEST_APPROVED"},
		{"pullrequest:comment_created", pr("MERGED", comment+approval), "PULL_REQUEST_COMMENT_ADDED"},
		{"issue:created", `{"issue":{"id":1},"changes":{"state":{"old":"new","new":"open"}}}`, "ISSUE_CREATED"},
		// The vendor's own samples name no state, and null says nothing.
		{"pullrequest:created", pr("OPEN|MERGED|DECLINED", `,"approval":null`), "PULL_REQUEST_OPENED"},
	} {
		if got := typesOf(t, c.key, c.body); got != c.types {
			t.Errorf("%s of %s: %s, want %s", c.key, c.body, got, c.types)
		}
	}
	for _, c := range []struct{ key, body, reason string }{
		{"pullrequest:fulfilled", pr("OPEN", ""), "its pull request is OPEN"},
		{"pullrequest:fulfilled", pr("SUPERSEDED", ""), "its pull request is SUPERSEDED"},
		{"pullrequest:rejected", pr("MERGED", ""), "its pull request is MERGED"},
		{"pullrequest:approved", pr("OPEN", ""), "there is no approval"},
		{"pullrequest:changes_request_created", pr("OPEN", approval), "there is no changes_request"},
		{"pullrequest:comment_deleted", pr("OPEN", comment), "its comment is not deleted"},
		{"pullrequest:comment_created", pr("OPEN", `,"comment":{"id":1,"deleted":true}`), "its comment is deleted"},
		{"repo:deleted", `{"repository":{"full_name":"a/b"},"push":{"changes":[]}}`, "it has the member push"},
		{"repo:deleted", `{"repository":{"full_name":"a/b"},"resourceSpans":[{}]}`, "it has the member resourceSpans"},
		{"repo:transfer", `{"repository":{"full_name":"a/b"},"resourceSpans":[{}]}`, "it has the member resourceSpans"},
		{"repo:push", pr("OPEN", ""), "there is no push"},
		{"issue:comment_created", `{"issue":{"id":1}}`, "there is no comment"},
		{"repo:created", `{"repository":{"full_name":"a/b"},"previous_owner":{"username":"c"}}`, "it has the member previous_owner"},
		{"", `{"repository":{"full_name":"a/b"}}`, "X-Event-Key"},
	} {
		_, events, err := Decode(c.key, []byte(c.body), base)
		if !errors.Is(err, notify.ErrNotUnderstood) || !strings.Contains(err.Error(), c.reason) || events != nil {
			t.Errorf("%s of %s: %v, %v", c.key, c.body, typesIn(events), err)
		}
	}
}

func TestUsers(t *testing.T) {
	for body, want := range map[string]notify.User{
		`{"account_id":"557058:1","uuid":"{u}","display_name":"Ada","nickname":"al"}`: {Name: "557058:1", DisplayName: "Ada"},
		`{"uuid":"{u}","nickname":"al"}`:                                              {Name: "{u}", DisplayName: "al"},
		`{"uuid":"{u}","display_name":null,"type":"app"}`:                             {Name: "{u}"},
		`{"username":"ada"}`:                                                          {Name: "ada", DisplayName: "ada"}, // before 2019
		`null`:                                                                        {},
	} {
		e := decodeOne(t, "repo:created", `{"actor":`+body+`,"repository":{"full_name":"a/b"}}`)
		if e.Actor != want {
			t.Errorf("%s is %+v", body, e.Actor)
		}
	}
	e := decodeOne(t, "repo:push", `{"push":{"changes":[{"new":{"type":"branch","name":"a"},"commits":[
		{"hash":"1","author":{"raw":"Ada <a@x>","user":{"account_id":"1","display_name":"Ada L"}}},
		{"hash":"2","author":{"raw":"ada <evil@x>","user":null}},{"hash":"3","author":{"raw":"nobody"}},{"hash":"4"}]}]}}`)
	// What Git knows is no name of a user that a rule might compare.
	want := []notify.User{{Name: "1", DisplayName: "Ada L"}, {DisplayName: "ada", Email: "evil@x"}, {DisplayName: "nobody"}, {}}
	for i, c := range e.Commits {
		if c.Author != want[i] {
			t.Errorf("commit %s is by %+v", c.ID, c.Author)
		}
	}
}

func TestPullRequestsOfNulls(t *testing.T) {
	const nulls = `"title":null,"description":null,"draft":null,"author":null,"source":null,"destination":null,"reviewers":null,"participants":null,"merge_commit":null,"closed_by":null,"reason":null,"created_on":null,"updated_on":null,"links":null,"state":null`
	for key, more := range map[string]string{
		"pullrequest:created": "", "pullrequest:updated": "", "pullrequest:push": "", "pullrequest:fulfilled": "", "pullrequest:rejected": "",
		"pullrequest:approved":                `,"approval":{"date":null,"user":null}`,
		"pullrequest:unapproved":              `,"approval":{}`,
		"pullrequest:changes_request_created": `,"changes_request":{"date":null,"user":null}`,
		"pullrequest:comment_created":         `,"comment":{"id":null,"content":null,"user":null,"inline":null,"parent":null,"links":null,"deleted":null}`,
	} {
		e := decodeOne(t, key, `{"actor":null,"repository":null,"pullrequest":{"id":7,`+nulls+`}`+more+`}`)
		if e.PullRequest == nil || e.PullRequest.ID != 7 || e.Branch != "" || e.URL != "" || len(e.Facts) != 0 {
			t.Errorf("%s: %+v", key, e)
		}
	}
	e := decodeOne(t, "pullrequest:created", `{"repository":{"full_name":"a/b"},"pullrequest":{"id":7,"source":{"branch":{"name":"f"},"commit":null,"repository":null},"destination":{"branch":null,"repository":{"full_name":"a/b"}}}}`)
	if e.SourceBranch != "f" || e.URL != base+"/a/b/pull-requests/7" || len(e.Facts) != 0 {
		t.Errorf("a fork that is gone: %+v", e)
	}
	e = decodeOne(t, "pullrequest:created", `{"repository":null,"pullrequest":{"id":7,"destination":{"repository":{"full_name":"a/b"}}}}`)
	if e.Project.Key != "a" || e.Repository.Key != "b" {
		t.Errorf("the destination's repository: %+v", e)
	}
}

func TestPullRequestFromAFork(t *testing.T) {
	e := decodeOne(t, "pullrequest:created", `{"repository":{"full_name":"a/b"},"pullrequest":{"id":7,"source":{"repository":{"full_name":"ada/b"}},"destination":{"repository":{"full_name":"a/b"}}}}`)
	if d := cmp.Diff([]notify.Fact{{Name: "From", Value: "ada/b"}}, e.Facts); d != "" {
		t.Error(d)
	}
}

func TestComments(t *testing.T) {
	e := decodeOne(t, "pullrequest:comment_created", `{"pullrequest":{"id":3},"comment":{"id":9,"content":{"raw":"x","html":"<p>x</p>"},"parent":{"id":8},
		"inline":{"path":"a/b.go","from":4,"to":null},"links":{"html":{"href":"https://bitbucket.org/a/b/pull-requests/3/_/diff#comment-9"}},"user":{"uuid":"{u}"}}}`)
	want := &notify.Comment{ID: 9, Text: "x", Parent: 8, URL: "https://bitbucket.org/a/b/pull-requests/3/_/diff#comment-9"}
	if d := cmp.Diff(want, e.Comment); d != "" || e.Actor.Name != "{u}" {
		t.Error(d, e.Actor)
	}
	if d := cmp.Diff([]notify.Fact{{Name: "File", Value: "a/b.go:4"}}, e.Facts); d != "" {
		t.Error(d)
	}
	e = decodeOne(t, "repo:commit_comment_created", `{"repository":{"full_name":"a/b"},"comment":{"id":9,"inline":{"path":"c","from":null,"to":10}},"commit":{"hash":"ab12"}}`)
	if e.URL != base+"/a/b/commits/ab12" || e.Comment.Commit != "ab12" || e.Facts[0].Value != "c:10" {
		t.Errorf("%+v %+v", e, e.Comment)
	}
}

// Rules and hooks follow a repository by the change of keys that an event says.
func TestKeyChanges(t *testing.T) {
	for name, c := range map[string]struct {
		key, body string
		from, to  notify.RepositoryRef
		moved     bool
	}{
		"renamed": {"repo:updated", `{"repository":{"full_name":"atlas/motor"},"changes":{"name":{"old":"engine","new":"motor"},"full_name":{"old":"atlas/engine","new":"atlas/motor"}}}`,
			notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "engine"}, notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "motor"}, true},
		"renamed, the body before it": {"repo:updated", `{"repository":{"full_name":"atlas/engine","links":{"html":{"href":"https://bitbucket.org/atlas/engine"}}},"changes":{"full_name":{"old":"atlas/engine","new":"atlas/motor"}}}`,
			notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "engine"}, notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "motor"}, true},
		"described": {"repo:updated", `{"repository":{"full_name":"atlas/engine"},"changes":{"description":{"old":"a","new":"b"},"slug":{"old":"x","new":"y"},"key":{"old":"K","new":"L"},"workspace":{"old":"v","new":"w"}}}`,
			notify.RepositoryRef{}, notify.RepositoryRef{}, false},
		"of nonsense": {"repo:updated", `{"repository":{"full_name":"atlas/engine"},"changes":{"full_name":{"old":"engine","new":null}}}`,
			notify.RepositoryRef{}, notify.RepositoryRef{}, false},
		"transferred": {"repo:transfer", `{"repository":{"full_name":"atlas/engine"},"previous_owner":{"username":"babbage","display_name":"Babbage"}}`,
			notify.RepositoryRef{ProjectKey: "babbage", RepositoryKey: "engine"}, notify.RepositoryRef{ProjectKey: "atlas", RepositoryKey: "engine"}, true},
		"transferred by a person": {"repo:transfer", `{"repository":{"full_name":"atlas/engine"},"previous_owner":{"display_name":"Ada","uuid":"{u}"}}`,
			notify.RepositoryRef{}, notify.RepositoryRef{}, false},
		"a project's key": {"project:updated", `{"project":{"key":"MACH","workspace":{"slug":"atlas"}},"changes":{"key":{"old":"DEV","new":"MACH"}}}`,
			notify.RepositoryRef{}, notify.RepositoryRef{}, false},
	} {
		e := decodeOne(t, c.key, c.body)
		by, moved := e.KeyChange()
		if moved != c.moved || moved && (by.From != c.from || by.To != c.to) {
			t.Errorf("%s: %+v, %t", name, by, moved)
		}
		if moved && e.Repository.URL != base+"/"+c.to.ProjectKey+"/"+c.to.RepositoryKey {
			t.Errorf("%s: %s", name, e.Repository.URL)
		}
	}
}

func TestProjects(t *testing.T) {
	for body, want := range map[string]notify.Project{
		`{"project":{"key":"MACH","name":"Machines","workspace":{"slug":"atlas"}}}`:                                     {Key: "atlas", Name: "Machines (MACH)"},
		`{"project":{"key":"MACH","links":{"html":{"href":"https://bitbucket.org/atlas/workspace/projects/MACH"}}}}`:    {Key: "atlas", Name: "MACH", URL: "https://bitbucket.org/atlas/workspace/projects/MACH"},
		`{"project":{"key":"MACH","links":{"html":{"href":"https://else.example.com/atlas/workspace/projects/MACH"}}}}`: {Name: "MACH", URL: "https://else.example.com/atlas/workspace/projects/MACH"},
		`{"project":{"key":"MACH"},"repository":{"full_name":"atlas/engine"}}`:                                          {Key: "atlas", Name: "MACH"},
	} {
		e := decodeOne(t, "project:updated", body)
		if d := cmp.Diff(want, e.Project); d != "" || e.Repository != (notify.Repository{}) {
			t.Error(body, d, e.Repository)
		}
	}
}

func TestTextsAreCutAndClean(t *testing.T) {
	long := strings.Repeat("ä", notify.MaxText+5)
	e := decodeOne(t, "pullrequest:comment_created", `{"actor":{"nickname":"a\u0000b"},"pullrequest":{"id":3,"title":"`+long+`","description":"`+long+`"},"comment":{"id":1,"content":{"raw":"`+long+`"}}}`)
	for _, s := range []string{e.Comment.Text, e.PullRequest.Title, e.PullRequest.Description} {
		if s != long[:2*notify.MaxText] {
			t.Errorf("kept %d bytes", len(s))
		}
	}
	if e.Actor.DisplayName != "a\uFFFDb" {
		t.Errorf("the actor is %q", e.Actor.DisplayName)
	}
}

func TestOfMembersThatOccurTwiceTheLastWins(t *testing.T) {
	e := decodeOne(t, "pullrequest:created", `{"pullrequest":{"id":1,"title":"old","reviewers":[{"uuid":"x"}]},"approval":{},"approval":null,"pullrequest":{"id":2,"id":3}}`)
	if e.PullRequest.ID != 3 || e.PullRequest.Title != "" || len(e.Reviewers) != 0 {
		t.Errorf("%+v", e.PullRequest)
	}
}

func TestChangesOfEveryShape(t *testing.T) {
	e := decodeOne(t, "issue:updated", `{"issue":{"id":1},"changes":{"assignee":{"old":null,"new":{"display_name":"Ada"}},"content":{"old":{"raw":"a"},"new":{"raw":"b"}},
		"is_private":{"old":false,"new":true},"milestone":{"old":{"name":"m1"},"new":null},"links":{"old":{},"new":{}},"votes":{"old":1,"new":2},"kind":"x","empty":{}}}`)
	want := []notify.Change{{Field: "assignee", New: "Ada"}, {Field: "text", Old: "a", New: "b"}, {Field: "private", Old: "no", New: "yes"}, {Field: "milestone", Old: "m1"}, {Field: "votes", Old: "1", New: "2"}}
	if d := cmp.Diff(want, e.Changes); d != "" {
		t.Error(d)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}
