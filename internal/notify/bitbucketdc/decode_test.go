package bitbucketdc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/samples"
)

const base = "https://git.example.com/stash"

// TestSamples holds the whole of what is made of a usual body of every key.
func TestSamples(t *testing.T) {
	for _, s := range samples.Samples() {
		t.Run(s.Name, func(t *testing.T) {
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			_, events, err := Decode(s.EventKey, s.Render(2, now), base)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			if err := notifytest.Golden(s.Name, got); err != nil {
				t.Error(err)
			}

			// Both styles of times say the same.
			_, even, err := Decode(s.EventKey, s.Render(4, now), base)
			if err != nil {
				t.Fatal(err)
			}
			_, odd, err := Decode(s.EventKey, s.Render(5, now), base)
			if err != nil || len(odd) != len(even) {
				t.Fatal(len(odd), err)
			}
			for i := range odd {
				if !odd[i].At.Equal(now) || len(odd[i].Commits) > 0 && !odd[i].Commits[0].At.Equal(even[i].Commits[0].At) {
					t.Errorf("times differ: %v, %v", even[i], odd[i])
				}
			}
		})
	}
}

// typesOf decodes and says the types of each event.
func typesOf(t *testing.T, key, body string) string {
	t.Helper()
	_, events, err := Decode(key, []byte(body), base)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range events {
		var names []string
		for _, x := range e.Types {
			names = append(names, x.String())
		}
		all = append(all, strings.Join(names, "+"))
	}
	return strings.Join(all, " ")
}

func TestPushTypes(t *testing.T) {
	const zeros = "0000000000000000000000000000000000000000"
	change := func(how, kind, name, from, to string) string {
		id := map[string]string{"BRANCH": "refs/heads/", "TAG": "refs/tags/"}[kind] + name
		return fmt.Sprintf(`{"type":%q,"ref":{"id":%q,"displayId":%q,"type":%q},"fromHash":%q,"toHash":%q}`, how, id, name, kind, from, to)
	}
	made := func(id, message, parents string) string {
		return fmt.Sprintf(`{"id":%q,"message":%q,"parents":[%s]}`, id, message, parents)
	}
	const online, before, other = "a.txt edited online with Bitbucket", `{"id":"a1"}`, `{"id":"a0"}`
	commits := func(message string) string { return `,"commits":[` + made("b2", message, before) + `]` }
	updated := change("UPDATE", "BRANCH", "a", "a1", "b2")
	for name, c := range map[string]struct{ changes, rest, want string }{
		"none":                  {``, ``, ""},
		"branch created":        {change("ADD", "BRANCH", "a", zeros, "b2"), ``, "BRANCH_CREATED"},
		"branch updated":        {change("UPDATE", "BRANCH", "a", "a1", "b2"), ``, "BRANCH_UPDATED"},
		"branch deleted":        {change("DELETE", "BRANCH", "a", "a1", zeros), ``, "BRANCH_DELETED"},
		"tag created":           {change("ADD", "TAG", "a", zeros, "b2"), ``, "TAG_CREATED"},
		"tag updated":           {change("UPDATE", "TAG", "a", "a1", "b2"), ``, "TAG_UPDATED"},
		"tag deleted":           {change("DELETE", "TAG", "a", "a1", zeros), ``, "TAG_DELETED"},
		"several":               {change("UPDATE", "BRANCH", "a", "a1", "b2") + "," + change("ADD", "TAG", "t", zeros, "b2") + "," + change("DELETE", "BRANCH", "b", "a1", zeros), ``, "BRANCH_UPDATED TAG_CREATED BRANCH_DELETED"},
		"other refs":            {change("UPDATE", "", "refs/notes/commits", "a1", "b2") + "," + change("ADD", "", "refs/pull-requests/7/from", zeros, "b2") + "," + updated, ``, "BRANCH_UPDATED"},
		"edited online":         {updated, commits(online + "\n"), "FILE_EDITED+BRANCH_UPDATED"},
		"edited, with a reason": {updated, commits(online + "\n\nThe old one was wrong."), "FILE_EDITED+BRANCH_UPDATED"},
		"edited, by toCommit":   {updated, `,"toCommit":` + made("b2", online, before), "FILE_EDITED+BRANCH_UPDATED"},
		"edited, of another":    {updated, `,"toCommit":` + made("c3", online, before), "BRANCH_UPDATED"},
		"edited, and more":      {updated, `,"toCommit":` + made("b2", online, before) + `,"commits":[` + made("b2", online, before) + "," + made("b1", "x", other) + `]`, "BRANCH_UPDATED"},
		"edited, after others":  {updated, `,"toCommit":` + made("b2", online, other), "BRANCH_UPDATED"},
		"no parent given":       {updated, `,"toCommit":` + made("b2", online, ""), "BRANCH_UPDATED"},
		"merged":                {updated, `,"toCommit":` + made("b2", "Merge pull request #3 in ATL/x from f to a\n\n* "+online, before+","+other), "BRANCH_UPDATED"},
		"merged, named so":      {updated, `,"commits":[` + made("b2", "Pull request #3: "+online, before+","+other) + `]`, "BRANCH_UPDATED"},
		"squashed":              {updated, commits("Pull request #3: x\n\nSquashed commit of the following:\n\n    " + online), "BRANCH_UPDATED"},
		"created online":        {change("ADD", "BRANCH", "a", zeros, "b2"), commits(online), "BRANCH_CREATED"},
		"tag of an edit":        {change("UPDATE", "TAG", "a", "a1", "b2"), commits(online), "TAG_UPDATED"},
		"speaks of online edit": {updated, commits("Revert what was edited online with Bitbucket yesterday"), "BRANCH_UPDATED"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := typesOf(t, "repo:refs_changed", `{"changes":[`+c.changes+`]`+c.rest+`}`); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPullRequestTypes(t *testing.T) {
	const pr = `"pullRequest":{"id":3,"title":"T","description":"D","draft":false,"fromRef":{"id":"refs/heads/f","latestCommit":"c9"},"toRef":{"id":"refs/heads/main","displayId":"main"}}`
	const plain = `"pullRequest":{"id":3,"title":"T","fromRef":{},"toRef":{}}`
	const same = `"previousTitle":"T","previousDescription":"D","previousTarget":{"id":"refs/heads/main","displayId":"main"}`
	for _, c := range []struct{ key, body, want string }{
		{"pr:opened", pr, "PULL_REQUEST_OPENED"},
		{"pr:merged", pr, "PULL_REQUEST_MERGED"},
		{"pr:declined", pr, "PULL_REQUEST_DECLINED"},
		{"pr:deleted", pr, "PULL_REQUEST_DELETED"},
		{"pr:from_ref_updated", pr + `,"previousFromHash":"b8"`, "PULL_REQUEST_RESCOPED"},
		{"pr:from_ref_updated", pr, "PULL_REQUEST_RESCOPED"},
		{"pr:from_ref_updated", pr + `,"previousFromHash":"c9"`, ""},
		{"pr:to_ref_updated", pr, ""},
		{"pr:modified", pr + `,` + same, ""},
		{"pr:modified", pr + `,` + same + `,"previousDraft":false`, ""},
		{"pr:modified", pr + `,` + same + `,"previousDraft":null`, ""},
		{"pr:modified", pr, ""},
		{"pr:modified", pr + `,` + same + `,"previousDraft":true`, "PULL_REQUEST_FIELD_EDITED"},
		{"pr:modified", pr + `,"previousTitle":"t","previousDescription":"D"`, "PULL_REQUEST_FIELD_EDITED"},
		{"pr:modified", pr + `,"previousTitle":"T","previousDescription":null`, "PULL_REQUEST_FIELD_EDITED"},
		{"pr:modified", pr + `,"previousTitle":"T"`, "PULL_REQUEST_FIELD_EDITED"},
		{"pr:modified", plain + `,"previousTitle":"T","previousDescription":"D"`, "PULL_REQUEST_FIELD_EDITED"},
		{"pr:modified", plain + `,"previousTitle":"T"`, ""},
		{"pr:modified", pr + `,"previousTitle":"T","previousDescription":"D","previousTarget":{"id":"refs/heads/dev"}`, "PULL_REQUEST_TARGET_CHANGED"},
		{"pr:modified", pr + `,"previousTitle":"t","previousDescription":"D","previousTarget":{"displayId":"dev"}`, "PULL_REQUEST_FIELD_EDITED+PULL_REQUEST_TARGET_CHANGED"},
		{"pr:reviewer:updated", pr, "PULL_REQUEST_REVIEWERS_UPDATED"},
		{"pr:reviewer:approved", pr, "PULL_REQUEST_APPROVED"},
		{"pr:reviewer:unapproved", pr, "PULL_REQUEST_UNAPPROVED"},
		{"pr:reviewer:unapproved", pr + `,"previousStatus":"APPROVED"`, "PULL_REQUEST_UNAPPROVED"},
		{"pr:reviewer:unapproved", pr + `,"previousStatus":"NEEDS_WORK"`, "PULL_REQUEST_CHANGES_REQUEST_REMOVED"},
		{"pr:reviewer:needs_work", pr, "PULL_REQUEST_CHANGES_REQUESTED"},
		{"pr:reviewer:changes_requested", pr, "PULL_REQUEST_CHANGES_REQUESTED"},
		{"pr:comment:added", pr + `,"comment":{"id":1}`, "PULL_REQUEST_COMMENT_ADDED"},
		{"pr:comment:edited", pr + `,"comment":{"id":1}`, "PULL_REQUEST_COMMENT_EDITED"},
		{"pr:comment:deleted", pr + `,"comment":{"id":1}`, "PULL_REQUEST_COMMENT_DELETED"},
	} {
		if got := typesOf(t, c.key, "{"+c.body+"}"); got != c.want {
			t.Errorf("%s of %s gives %q, want %q", c.key, c.body, got, c.want)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	for _, key := range []string{"", "diagnostics:ping", "repo:push", "pr:reopened", "PR:OPENED"} {
		if _, _, err := Decode(key, []byte(`{}`), base); !errors.Is(err, notify.ErrUnknownKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestNotUnderstood(t *testing.T) {
	for _, c := range []struct{ key, body, reason string }{
		{"pr:opened", `[]`, "not an object"},
		{"pr:opened", `null`, "not an object"},
		{"pr:opened", `{"test":true}`, "no pullRequest"},
		{"pr:opened", `{"pullRequest":null}`, "no pullRequest"},
		{"pr:opened", `{"pullRequest":[1]}`, "no pullRequest"},
		{"pr:opened", `{"pullRequest":{"id":"abc"}}`, "no pullRequest"},
		{"pr:opened", `{"pullRequest":{"id":{}}}`, "no pullRequest"},
		{"pr:modified", `{}`, "no pullRequest"},
		{"pr:from_ref_updated", `{}`, "no pullRequest"},
		{"pr:reviewer:unapproved", `{"previousStatus":"NEEDS_WORK"}`, "no pullRequest"},
		{"pr:comment:added", `{"pullRequest":{"id":1}}`, "no comment"},
		{"repo:comment:added", `{"comment":"text"}`, "no comment"},
		{"repo:refs_changed", `{}`, "no list of changes"},
		{"repo:refs_changed", `{"changes":{"type":"ADD"}}`, "no list of changes"},
		{"repo:refs_changed", `{"changes":[{"type":"ADD"}]}`, "names no ref"},
		{"repo:refs_changed", `{"changes":["x"]}`, "names no ref"},
		{"repo:refs_changed", `{"changes":[{"refId":"refs/heads/a","type":"RENAME"}]}`, "RENAME"},
		{"repo:forked", `{"repository":null}`, "no repository"},
		{"repo:modified", `{"old":{"slug":"a"}}`, "no new repository"},
		{"project:modified", `{"old":{"key":"A"},"new":null}`, "no new project"},
		{"repo:secret_detected", `{}`, "secretLocations"},
	} {
		_, events, err := Decode(c.key, []byte(c.body), base)
		if !errors.Is(err, notify.ErrNotUnderstood) || !strings.Contains(err.Error(), c.reason) || events != nil {
			t.Errorf("%s of %s: %v, %v", c.key, c.body, events, err)
		}
	}
}

// decodeOne decodes what gives one event.
func decodeOne(t *testing.T, key, body string) notify.Event {
	t.Helper()
	_, events, err := Decode(key, []byte(body), base+"/")
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	return events[0]
}

func TestLinksOfVersionsThatSendNone(t *testing.T) {
	const repo = `"slug":"en gine","project":{"key":"ATL"}`
	const personal = `"slug":"notes","project":{"key":"~ADA","type":"PERSONAL","owner":{"slug":"ada.l"}}`
	const tilde = `"slug":"notes","project":{"key":"~ADA"}`
	for _, c := range []struct{ key, body, want string }{
		{"pr:opened", `"pullRequest":{"id":3,"toRef":{"repository":{` + repo + `}}}`, base + "/projects/ATL/repos/en%20gine/pull-requests/3"},
		{"pr:opened", `"pullRequest":{"id":3,"toRef":{"repository":{` + personal + `}}}`, base + "/users/ada.l/repos/notes/pull-requests/3"},
		{"pr:opened", `"pullRequest":{"id":3,"toRef":{"repository":{` + tilde + `}}}`, base + "/users/ada/repos/notes/pull-requests/3"},
		{"pr:opened", `"pullRequest":{"id":3,"links":{"self":[{"href":"javascript:alert(1)"}]},"toRef":{"repository":{` + repo + `}}}`, base + "/projects/ATL/repos/en%20gine/pull-requests/3"},
		{"pr:opened", `"pullRequest":{"id":3,"links":{"self":[null]},"toRef":{"repository":{` + repo + `}}}`, base + "/projects/ATL/repos/en%20gine/pull-requests/3"},
		{"pr:opened", `"pullRequest":{"id":3,"toRef":{"repository":null}}`, ""},
		{"repo:refs_changed", `"repository":{` + repo + `},"changes":[{"refId":"refs/heads/a/b","type":"UPDATE"}]`, base + "/projects/ATL/repos/en%20gine/commits?until=refs%2Fheads%2Fa%2Fb"},
		{"repo:refs_changed", `"repository":{` + repo + `},"changes":[{"refId":"refs/heads/a/b","type":"DELETE"}]`, base + "/projects/ATL/repos/en%20gine/browse"},
		{"repo:comment:added", `"repository":{` + repo + `},"comment":{"id":9},"commit":"ab12"`, base + "/projects/ATL/repos/en%20gine/commits/ab12"},
		{"project:modified", `"new":{"key":"ATL"}`, base + "/projects/ATL"},
	} {
		if got := decodeOne(t, c.key, "{"+c.body+"}").URL; got != c.want {
			t.Errorf("%s of %s links to %q, want %q", c.key, c.body, got, c.want)
		}
	}
	_, events, err := Decode("pr:opened", []byte(`{"pullRequest":{"id":3,"toRef":{"repository":{`+repo+`}}}}`), "")
	if err != nil || events[0].URL != "" {
		t.Errorf("without a base URL it links to %q (%v)", events[0].URL, err)
	}
}

func TestCommentLinks(t *testing.T) {
	pr := decodeOne(t, "pr:comment:added", `{"pullRequest":{"id":3,"links":{"self":[{"href":"https://h/p/3"}]}},"comment":{"id":9,"text":"x","severity":"BLOCKER"},"commentParentId":8}`)
	want := &notify.Comment{ID: 9, Text: "x", Task: true, Parent: 8, URL: "https://h/p/3/overview?commentId=9"}
	if d := cmp.Diff(want, pr.Comment); d != "" {
		t.Error(d)
	}
	commit := decodeOne(t, "repo:comment:edited", `{"repository":{"slug":"s","links":{"self":[{"href":"https://h/r/s/browse"}]}},"comment":{"id":"9"},"commit":"ab12"}`)
	want = &notify.Comment{ID: 9, Commit: "ab12", URL: "https://h/r/s/commits/ab12?commentId=9"}
	if d := cmp.Diff(want, commit.Comment); d != "" {
		t.Error(d)
	}
}

func TestCommitsOfEachBranchOfAPush(t *testing.T) {
	_, events, err := Decode("repo:refs_changed", []byte(`{"changes":[
		{"refId":"refs/heads/a","type":"UPDATE","fromHash":"a1","toHash":"a3"},
		{"refId":"refs/heads/b","type":"UPDATE","fromHash":"a2","toHash":"b3"},
		{"refId":"refs/heads/c","type":"UPDATE","fromHash":"c1","toHash":"c2"}],
		"commits":[{"id":"b3","parents":[{"id":"a2"}]},{"id":"a3","parents":[{"id":"a2"},{"id":"m1"}]},{"id":"a2","parents":[{"id":"a1"}]}]}`), base)
	if err != nil || len(events) != 3 {
		t.Fatal(events, err)
	}
	for i, want := range []string{"a3 a2", "b3", ""} {
		var ids []string
		for _, c := range events[i].Commits {
			ids = append(ids, c.ID)
		}
		if got := strings.Join(ids, " "); got != want || events[i].CommitCount != len(ids) {
			t.Errorf("%s has commits %q, want %q", events[i].Branch, got, want)
		}
	}
}

func TestCommitAuthorsOfBothShapes(t *testing.T) {
	e := decodeOne(t, "repo:refs_changed", `{"changes":[{"refId":"refs/heads/a","type":"UPDATE"}],"commits":[
		{"id":"1","author":{"name":"ada","displayName":"Ada Lovelace","slug":"ada","emailAddress":"a@x"}},
		{"id":"2","author":{"name":"ada","emailAddress":"evil@x"}}]}`)
	if got, want := e.Commits[0].Author, (notify.User{Name: "ada", DisplayName: "Ada Lovelace", Email: "a@x"}); got != want {
		t.Errorf("a user is %+v", got)
	}
	// What Git knows is no name of a user that a rule might compare.
	if got, want := e.Commits[1].Author, (notify.User{DisplayName: "ada", Email: "evil@x"}); got != want {
		t.Errorf("an author is %+v", got)
	}
}

func TestSecretsGiveAnEventForEachRepository(t *testing.T) {
	at := func(project, slug, path string) string {
		return fmt.Sprintf(`{"path":%q,"line":2,"commitId":"ab12","ruleName":"Key","repository":{"slug":%q,"project":{"key":%q}}}`, path, slug, project)
	}
	_, events, err := Decode("repo:secret_detected", []byte(`{"secretLocations":[`+at("A", "r", "x")+`,`+at("B", "r", "y")+`,`+at("A", "r", "z")+`,{"repository":null}]}`), base)
	if err != nil || len(events) != 3 {
		t.Fatal(events, err)
	}
	want := []notify.Fact{{Name: "Key", Value: "x:2 in ab12"}, {Name: "Key", Value: "z:2 in ab12"}}
	if d := cmp.Diff(want, events[0].Facts); d != "" || events[0].Project.Key != "A" || events[1].Project.Key != "B" {
		t.Error(d, events[0].Project, events[1].Project)
	}
	if events[2].Repository.Key != "" || events[2].Facts[0].Name != "Secret" {
		t.Errorf("of no repository: %+v", events[2])
	}
}

func TestRenamesAreInChanges(t *testing.T) {
	e := decodeOne(t, "repo:modified", `{"old":{"slug":"a","name":"A","project":{"key":"P"}},"new":{"slug":"b","name":"A","project":{"key":"Q"}}}`)
	if d := cmp.Diff([]notify.Change{{Field: "key", Old: "P", New: "Q"}, {Field: "slug", Old: "a", New: "b"}}, e.Changes); d != "" || e.Project.Key != "Q" || e.Repository.Key != "b" {
		t.Error(d, e.Project, e.Repository)
	}
	e = decodeOne(t, "project:modified", `{"old":{"key":"P","name":"x"},"new":{"key":"Q","name":"y"}}`)
	if d := cmp.Diff([]notify.Change{{Field: "key", Old: "P", New: "Q"}, {Field: "name", Old: "x", New: "y"}}, e.Changes); d != "" || e.Project.Key != "Q" {
		t.Error(d, e.Project)
	}
}

func TestForkHappensToItsOrigin(t *testing.T) {
	e := decodeOne(t, "repo:forked", `{"repository":{"slug":"r2","project":{"key":"~ADA"},"origin":{"slug":"r","project":{"key":"ATL"}}}}`)
	if e.Project.Key != "ATL" || e.Repository.Key != "r" || e.Facts[0].Value != "~ADA/r2" || e.URL != base+"/users/ada/repos/r2/browse" {
		t.Errorf("%+v", e)
	}
	e = decodeOne(t, "repo:forked", `{"repository":{"slug":"r2","project":{"key":"ATL"},"origin":null}}`)
	if e.Repository.Key != "r2" {
		t.Errorf("without an origin: %+v", e)
	}
}

func TestTextsAreCutAndClean(t *testing.T) {
	long := strings.Repeat("ä", notify.MaxText+5)
	e := decodeOne(t, "pr:comment:added", `{"actor":{"name":"a\u0000b"},"pullRequest":{"id":3,"title":"`+long+`","description":"`+long+`"},"comment":{"id":1,"text":"`+long+`"}}`)
	for _, s := range []string{e.Comment.Text, e.PullRequest.Title, e.PullRequest.Description} {
		if s != long[:2*notify.MaxText] {
			t.Errorf("kept %d bytes", len(s))
		}
	}
	if e.Actor.Name != "a\uFFFDb" {
		t.Errorf("the actor is %q", e.Actor.Name)
	}
}

func TestOfMembersThatOccurTwiceTheLastWins(t *testing.T) {
	e := decodeOne(t, "pr:opened", `{"pullRequest":{"id":1,"title":"old","reviewers":[{"user":{"name":"x"}}]},"actor":{"name":"x","displayName":"X"},"actor":{"name":"y"},"pullRequest":{"id":2,"id":3}}`)
	if e.PullRequest.ID != 3 || e.PullRequest.Title != "" || len(e.Reviewers) != 0 || e.Actor != (notify.User{Name: "y"}) {
		t.Errorf("%+v %+v", e.Actor, e.PullRequest)
	}
}

// The platform lists five commits of a push, the newest ones.
func TestCommitsThatAreNotListed(t *testing.T) {
	list := func(n int, oldest string) string {
		var all []string
		for i := range n {
			parent := fmt.Sprintf("c%d", i+1)
			if i == n-1 {
				parent = oldest
			}
			all = append(all, fmt.Sprintf(`{"id":"c%d","message":"m","parents":[{"id":%q}]}`, i, parent))
		}
		return strings.Join(all, ",")
	}
	for name, c := range map[string]struct {
		from, commits string
		cut           bool
	}{
		"all of 5":       {"a1", list(5, "a1"), false},
		"5 of more":      {"a1", list(5, "c5"), true},
		"all of 4":       {"a1", list(4, "a1"), false},
		"rewritten":      {"a1", list(4, "a0"), false},
		"all of 9":       {"a1", list(9, "a1"), false},
		"9 of more":      {"a1", list(9, "c9"), true},
		"merge, of more": {"a1", `{"id":"c0","message":"m","parents":[{"id":"a1"},{"id":"d1"}]},` + strings.ReplaceAll(list(4, "e9"), `"c`, `"d`), true},
	} {
		body := `{"changes":[{"type":"UPDATE","ref":{"id":"refs/heads/a","displayId":"a","type":"BRANCH"},"fromHash":"` + c.from + `","toHash":"c0"}],"commits":[` + c.commits + `]}`
		_, events, err := Decode("repo:refs_changed", []byte(body), base)
		if err != nil || len(events) != 1 {
			t.Fatal(err)
		}
		if events[0].CommitsCut != c.cut {
			t.Errorf("%s: cut %t", name, events[0].CommitsCut)
		}
	}
}

// Every key of the platform gives what the design's table says of it, or says
// nothing.
func TestEveryKey(t *testing.T) {
	const place = `"repository":{"slug":"canoe","project":{"key":"ATL"}}`
	for key, want := range map[string]string{
		"repo:comment:added": "COMMIT_COMMENT_ADDED", "repo:comment:edited": "COMMIT_COMMENT_EDITED", "repo:comment:deleted": "COMMIT_COMMENT_DELETED",
		"repo:forked": "REPOSITORY_FORKED", "repo:modified": "REPOSITORY_FIELD_EDITED", "mirror:repo_synchronized": "REPOSITORY_MIRROR_SYNCHRONIZED",
		"project:modified": "PROJECT_FIELD_EDITED", "proj:modified": "PROJECT_FIELD_EDITED", "repo:secret_detected": "REPOSITORY_SECRET_DETECTED",
	} {
		body := `{` + place + `,"commit":"a1","comment":{"id":1},"old":{"slug":"hull","key":"PAC","project":{"key":"PAC"}},` +
			`"new":{"slug":"canoe","key":"ATL","project":{"key":"ATL"}},"secretLocations":[{"path":"a",` + place + `}]}`
		if got := typesOf(t, key, body); got != want {
			t.Errorf("%s gives %q, want %q", key, got, want)
		}
	}
}
