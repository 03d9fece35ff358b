package admin_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// What the site says when it refuses records is beside them everywhere: in the
// list, in the CSV, where no spreadsheet runs it, and on the page, where it is
// no markup.
func TestTheSitesWords(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		target := &site{}
		r := newRig(t, d, target).work()
		refused := error(&threads.TargetError{
			Kind: threads.TargetForbids, Status: 403, Message: "ours", Said: "Issue 902 is \"locked\",\n<b>ask</b> the owner of 902.",
		})
		target.refuse(902, &refused)
		r.completed()
		var list struct {
			Items []struct {
				CommentID int64
				Reason    threads.Reason
				Answer    *threads.Answer
			}
		}
		r.read(r.do(200, "GET", "/errors"), &list)
		words := `Issue [issue] is "locked", <b>ask</b> the owner of [issue].`
		if len(list.Items) != 3 || list.Items[0].CommentID != 21 || list.Items[0].Reason != threads.TargetForbidden || list.Items[0].Answer == nil ||
			*list.Items[0].Answer != (threads.Answer{Status: 403, Text: words}) || list.Items[1].Answer != nil {
			t.Errorf("the list: %+v", list)
		}
		rows, err := csv.NewReader(strings.NewReader(r.do(200, "GET", "/errors.csv"))).ReadAll()
		must(t, err)
		if diff := cmp.Diff([][]string{
			{"issueId", "commentId", "parentCommentId", "reason", "answer"},
			{"2", "21", "20", "target_forbidden", "403 " + words}, {"2", "22", "29", "no_parent_mapping", ""}, {"2", "23", "23", "self_parent", ""},
		}, rows); diff != "" {
			t.Error(diff)
		}
		if got := r.do(200, "GET", "/status"); !strings.Contains(got, `"groups":[{"reason":"no_parent_mapping","records":1},{"reason":"self_parent","records":1},{"reason":"target_forbidden","answer":{"status":403,`) {
			t.Errorf("the status: %s", got)
		}
		page := r.open("GET", movePath+"/errors", "root")
		r.has(page, 200, `<span class="below">target_forbidden</span></th><td class="figure" data-label="Records">1</td>`, `The target answered: 403 Issue [issue] is &#34;locked&#34;, &lt;b&gt;ask&lt;/b&gt;`)
		if strings.Count(page.Body.String(), "The target answered") != 2 {
			t.Error("other errors have an answer too")
		}

		// Without a status, what it says could begin a formula.
		refused = &threads.TargetError{Kind: threads.TargetForbids, Message: "ours", Said: "=HYPERLINK(1)"}
		r.do(202, "POST", "/retry")
		r.until(threads.PhaseCompleted)
		if got := r.do(200, "GET", "/errors.csv"); !strings.Contains(got, "\n2,21,20,target_forbidden,'=HYPERLINK(1)\n") {
			t.Errorf("the CSV: %s", got)
		}
	}, audit.Migrations, store.Migrations)
}

// What undoing has left is in the status, the CSV of errors and the pages, with its
// reason, also when the migration is over.
func TestWhatUndoingHasLeft(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		target := &site{}
		r := newRig(t, d, target).work()
		for range 2 {
			r.completed()
			changed := error(&threads.TargetError{Kind: threads.TargetChanged, Message: "The property is not ours."})
			hidden := error(&threads.TargetError{Kind: threads.TargetMissing, Status: 404, Said: "There is none."})
			target.refused = map[int64]*error{901: &changed, 902: &hidden}
			r.do(202, "POST", "/undo")
			r.until(threads.PhaseFailed)
			if got := r.do(200, "GET", "/status"); !strings.Contains(got, `"undo":{"active":true,"issues":1,"kept":1,"left":[{"cloudIssueId":"901","issueId":1,"reason":"target_changed","answer":{"text":"The property is not ours."}},{"cloudIssueId":"902","issueId":2,"reason":"target_not_found","answer":{"status":404,"text":"There is none."}}]}`) {
				t.Errorf("the status: %s", got)
			}
			if got := r.do(200, "GET", "/errors.csv"); !strings.HasSuffix(got, "\n1,,,target_changed,The property is not ours.\n2,,,target_not_found,404 There is none.\n") {
				t.Errorf("the CSV: %s", got)
			}
			r.has(r.open("GET", movePath, "root"), 200, "Issues that were not undone", "Issue 1, on the target 901: Others changed what the target has of this issue")
			r.has(r.open("GET", movePath+"/errors", "root"), 200, "Issue 2, on the target 902: The target has no such issue. The target answered: 404 There is none.")
			r.says(r.reported(), map[string]string{"undo/Issue 2, on the target 902": "|The target has no such issue. The target answered: 404 There is none."})
			hidden = nil
			r.do(202, "POST", "/continue")
			r.until(threads.PhaseEmpty)
			if got := r.do(200, "GET", "/status"); !strings.Contains(got, `"left":[{"cloudIssueId":"901","issueId":1,`) || strings.Contains(got, "902") {
				t.Errorf("the status in the end: %s", got)
			}
			target.refused = nil
			r.do(202, "POST", "/reset")
		}
	}, audit.Migrations, store.Migrations)
}
