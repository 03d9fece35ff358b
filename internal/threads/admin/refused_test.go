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
		r.has(page, 200, `<code>target_forbidden</code></th><td class="figure" data-label="Records">1</td>`, `The target answered: 403 Issue [issue] is &#34;locked&#34;, &lt;b&gt;ask&lt;/b&gt;`)
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
