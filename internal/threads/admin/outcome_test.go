package admin_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// What the target does not have as it should is counted and listed; a
// comparison that failed says why until another one begins.
func TestVerify(t *testing.T) {
	target := &site{}
	r := onSQLite(t, target).work()
	r.completed()
	r.verifies(`"issues":2,"relations":3,"present":0,"missing":3,"different":0,"first":[{"issueId":"901","commentId":"511","expected":"510"},`)
	const outcome = `"verified":{"state":"done","complete":false,"relations":3,"present":0,"missing":3,"different":0,"notCompared":2}`
	if got := r.do(200, "GET", "/status"); !strings.Contains(got, outcome) {
		t.Errorf("the status is %s", got)
	}
	r.has(r.open("GET", movePath+"/verify", "root"), 200, `<span class="badge warn">differs</span>`, "0 of 3 relationships are correct in the target",
		`data-label="In the data">510</td>`, `data-label="In the target">none</td>`)
	target.fail(&threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The token is refused."})
	r.do(202, "POST", "/verify")
	r.eventually(func() bool { return r.ask("GET", migrationPath+"/verify", "root", "").Code != 202 })
	for range 2 {
		if got := r.message(r.do(409, "GET", "/verify")); !strings.HasPrefix(got, "The target could not be compared: ") || !strings.Contains(got, "The token is refused.") || !strings.HasSuffix(got, " Send another POST to try again.") {
			t.Error(got)
		}
	}
	if got := r.do(200, "GET", "/status"); !strings.Contains(got, `"verified":{"state":"failed","complete":false,`) {
		t.Errorf("the status is %s", got)
	}
	r.has(r.open("GET", movePath+"/verify", "root"), 200, `<span class="badge bad">failed</span>`)
	r.has(r.open("GET", movePath, "root"), 200, "<dt>Verified</dt><dd>failed")
}

// opening is what stands before an element of an array.
func opening(i int) rune {
	if i == 0 {
		return '['
	}
	return ','
}

// Errors beyond what is read at once are all there, once.
func TestManyErrors(t *testing.T) {
	r := onSQLite(t, nil).work()
	const n = 2*threads.ChunkSize + 345
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `%c{"issueId":%d,"commentId":%d,"parentCommentId":1}`, opening(i), 1+i/700, 1000+i)
	}
	r.send(threads.HierarchyFile, text.String()+"]")
	r.send(threads.MappingsFile, mappings)
	r.load(202, "?acceptIncomplete=true", r.sent())
	r.until(threads.PhaseReady)
	r.do(202, "POST", "/start")
	r.until(threads.PhaseCompleted)
	lines := strings.Split(strings.TrimSpace(r.do(200, "GET", "/errors.csv")), "\n")
	if len(lines) != n+1 || len(slices.Compact(slices.Sorted(slices.Values(lines)))) != n+1 {
		t.Errorf("%d lines", len(lines))
	}
	count, after := 0, ""
	for {
		var page struct {
			Items []struct {
				IssueID, CommentID, ParentCommentID int64
				Reason                              string
			}
			Next string
		}
		r.read(r.do(200, "GET", "/errors?limit=999"+after), &page)
		for _, e := range page.Items {
			count++
			if want := fmt.Sprintf("%d,%d,%d,%s,", e.IssueID, e.CommentID, e.ParentCommentID, e.Reason); lines[count] != want {
				t.Fatalf("error %d is %s in the list and %s in the report", count, want, lines[count])
			}
		}
		if after = "&after=" + page.Next; page.Next == "" {
			break
		}
	}
	if count != n {
		t.Errorf("the list has %d", count)
	}
	page := r.open("GET", movePath+"/errors", "root")
	next := regexp.MustCompile(`href="/base(/threads/admin/migration/errors\?after=[^"]+)" rel="next"`).FindStringSubmatch(page.Body.String())
	if next == nil {
		t.Fatal("the page leads nowhere")
	}
	r.has(r.open("GET", next[1], "root"), 200, "First page", ">1100</td>")
}
