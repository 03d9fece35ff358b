package admin_test

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// sendAs makes a draft of a file with a name.
func (r *rig) sendAs(kind, name, content string) {
	r.t.Helper()
	ctx := identity.With(r.t.Context(), identitytest.Everybody()["root"])
	_, err := r.api.Take(ctx, threads.Upload{Kind: kind, Filename: name, Length: int64(len(content))}, strings.NewReader(content), true)
	must(r.t, err)
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// lines are those of the report's CSV, by section and item.
func (r *rig) reported() map[string][]string {
	r.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(r.do(200, "GET", "/report?format=csv"))).ReadAll()
	must(r.t, err)
	if got := strings.Join(rows[0], ","); got != "section,item,count,text" {
		r.t.Errorf("the header: %s", got)
	}
	lines := map[string][]string{}
	for _, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
				r.t.Errorf("a spreadsheet runs %q", cell)
			}
		}
		lines[row[0]+"/"+row[1]] = append(lines[row[0]+"/"+row[1]], row[2]+"|"+row[3])
	}
	return lines
}

// says holds lines of a report to their beginnings.
func (r *rig) says(lines map[string][]string, want map[string]string) {
	r.t.Helper()
	for name, text := range want {
		if got := lines[name]; len(got) != 1 || !strings.HasPrefix(got[0], text) {
			r.t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
}

// The report says which files they were, what is wrong with them, what the
// target refused and in which words, what the comparison found, and who did what;
// nothing of the files or of the site is markup or a formula in it.
func TestReport(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		target := &site{names: map[int64]threads.IssueName{901: {Key: "=1-7", Project: "=1"}}}
		r := newRig(t, d, target).work()
		if got := r.message(r.do(409, "GET", "/report")); got != "Nothing is loaded that could be reported on. Load a hierarchy file and an id mappings file first." {
			t.Errorf("without data: %s", got)
		}
		refused := error(&threads.TargetError{Kind: threads.TargetMissing, Status: 404, Said: "<script>alert(902)</script> is gone."})
		target.refuse(902, &refused)
		records := packed(t, hierarchy)
		ids := mappings + "jira:comment,<i>x</i>,1\n"
		r.sendAs(threads.HierarchyFile, "=cmd|' /C calc'!A0.json.gz", records)
		r.sendAs(threads.MappingsFile, "<b>ids</b>.csv", ids)
		r.load(202, "?acceptIncomplete=true", r.sent())
		r.until(threads.PhaseReady)
		r.says(r.reported(), map[string]string{"migration/Status": "|IDLE, READY", "migration/Records processed": "0|0%", "error/": "|None so far.", "comparison/": "|The target was not compared"})
		if page := r.ask("GET", migrationPath+"/report", "root", "", "Accept", "text/html").Body.String(); !strings.Contains(page, "Not final:") || strings.Contains(page, "Signature") {
			t.Error("a report that is not final does not say so, or can be signed")
		}
		r.do(202, "POST", "/start")
		r.until(threads.PhaseCompleted)
		r.verifies(`"state":"done"`)

		lines := r.reported()
		r.says(lines, map[string]string{
			"migration/Status": "|COMPLETED", "migration/Target": "|https://site.example.com", "migration/Started": "|20", "migration/Ended": "|20",
			"migration/Records": "5|", "migration/Issues processed": "2|", "migration/Thread relationships in the target": "2|", "migration/Records not migrated": "3|",
			"file/Hierarchy: file": "|'=cmd|' /C calc'!A0.json.gz", "file/Hierarchy: SHA-256": "|" + digest(records), "file/Id mappings: SHA-256": "|" + digest(ids),
			"file/Id mappings: file": "|<b>ids</b>.csv", "problem/Accepted as incomplete": "|1 line of the id mappings file could not be read.",
			"problem/Id mappings: line 11": "|The server id is not a whole number. jira:comment,<i>x</i>,1", "problem/Comments without a mapping": "1|ids 29",
			"problem/Duplicate records": "1|", "error/no_parent_mapping": "1|The parent comment has no entry in the id mappings.", "error/self_parent": "1|",
			"error/target_not_found": "1|The target has no such issue. The target answered: 404 <script>alert([issue])</script> is gone.",
			"comparison/State":       "|done", "comparison/Relationships expected": "3|", "comparison/Missing": "3|", "comparison/Records not compared": "2|",
			"project/'=1": "2|records; issues: 1; not migrated: 0", "project/Other issues": "3|records; issues: 1; not migrated: 3",
			"comparison/Issue 901 (=1-7), comment 511": "|ids of the target: expected parent 510, found nothing",
		})
		var trail []string
		for name, entries := range lines {
			if strings.HasPrefix(name, "trail/20") {
				trail = append(trail, entries...)
			}
		}
		for _, want := range []string{"|root: upload (acceptIncomplete true, phase EMPTY → LOADING)", "|root: start (phase READY → PROCESSING)"} {
			if !strings.Contains(strings.Join(trail, "\n"), want) {
				t.Errorf("%q is missing in %q", want, trail)
			}
		}

		w := r.ask("GET", migrationPath+"/report", "reader", "", "Accept", "text/html")
		r.has(w, 200, "<h1>Migration of threaded comments</h1>", "&lt;b&gt;ids&lt;/b&gt;.csv", "&lt;script&gt;alert([issue])&lt;/script&gt;", "jira:comment,&lt;i&gt;x&lt;/i&gt;,1", digest(records),
			"root: start (phase READY → PROCESSING)", "<p>Signature</p>")
		if strings.Contains(w.Body.String(), "Not final") {
			t.Error("a final report says that it is not")
		}
		if h := w.Header(); h.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none';") || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%v\n%s", h, w.Body)
		}
		r.has(r.open("GET", movePath, "root"), 200, `href="/base`+migrationPath+`/report">Report</a>`)
		if got := r.do(200, "GET", "/verify"); !strings.Contains(got, `"expected":"510","issueKey":"=1-7"}`) || !strings.Contains(got, `"projects":{"":{"issues":1,"records":3,"notMigrated":3},"=1":{"issues":1,"records":2,"notMigrated":0}}`) {
			t.Errorf("the comparison: %s", got)
		}
		r.has(r.open("GET", movePath+"/verify", "root"), 200, `data-label="Issue">901 =1-7</td>`)
		target.names = nil
		r.verifies(`"state":"done"`)
		if w := r.ask("GET", migrationPath+"/report", "root", ""); strings.Contains(w.Body.String(), "Projects") {
			t.Error("projects are listed that nothing knows of")
		}
		r.do(202, "POST", "/reset")
		r.do(409, "GET", "/report")
		if page := r.open("GET", movePath, "root").Body.String(); strings.Contains(page, "/migration/report") {
			t.Error("the page leads to a report of nothing")
		}
	}, audit.Migrations, store.Migrations)
}
