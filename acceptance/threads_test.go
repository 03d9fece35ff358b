package acceptance

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/threadstest"
)

// TestThreads goes the whole way from the command line: 10,000 records into the
// self-hosted side of one node, out of it by the client and by the helper
// script, into the cloud side of another, and from there into a backup and back.
func TestThreads(t *testing.T) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			host, cloud := node(t, loadtest.Settings{}), node(t, loadtest.Settings{DatabaseURL: database(t)})
			start(t, host)
			start(t, cloud)
			f := newFolder(t)
			records, mappings := hierarchyOf(10_000, 1)
			model := threadstest.NewModel(records, mappings)
			exportBoth(t, f, host, records, mappings)
			f.must(0, "0 relations of 0 issues written to empty.gz", cloud, "backup", "--out", "empty.gz")

			files := []string{"--hierarchy", "export.json", "--mappings", "id-mappings.csv", "--json"}
			var p threads.Preview
			says := fmt.Sprintf("%d of %d records will fail", len(model.Reasons), len(records))
			f.into(f.must(2, says, cloud, append([]string{"migrate", "--dry-run"}, files...)...), &p)
			if p.Records != model.Preview.Records || p.Issues != model.Preview.Issues || !maps.Equal(p.Errors, model.Preview.Errors) ||
				p.MissingComments.Count != model.Preview.MissingComments.Count || !slices.Equal(p.MissingIssues.First, model.Preview.MissingIssues.First) {
				t.Errorf("the preview is %+v, the model's %+v", p, model.Preview)
			}
			f.must(0, "IDLE, EMPTY", cloud, "status")

			says = fmt.Sprintf("%d records not migrated", len(model.Reasons))
			migrate := append([]string{"migrate"}, files...)
			var st threads.MigrationStatus
			f.into(f.must(2, says, cloud, migrate...), &st)
			relations := 0
			for _, m := range model.Maps {
				relations += len(m)
			}
			if st.Phase != threads.PhaseCompleted || st.Progress.Processed != 10_000 || st.Progress.Total != 10_000 || st.Progress.Percent != 100 ||
				st.IssuesProcessed != 400 || st.ParentMapsCreated != int64(relations) || st.Errors.Permanent != int64(len(model.Reasons)) {
				t.Errorf("it ended as %+v; the model has %d relations", st, relations)
			}
			f.sameErrors(cloud, model.Reasons)
			sameThreads(t, cloud, model)
			f.must(exitLook, "Missing\t0", cloud, "verify")
			sameMaps(t, f.backup(cloud, "backup.gz"), model.Maps)

			f.must(0, "0 of 0 issues restored", cloud, "restore", "--in", "empty.gz", "--mode", "replace", "--yes")
			sameMaps(t, f.backup(cloud, "nothing.gz"), nil)
			f.must(exitLook, fmt.Sprintf("the target does not match the files: %d missing, %d not compared", relations, len(model.Reasons)), cloud, "verify")
			f.must(0, "IDLE, EMPTY", cloud, "reset", "--yes")
			f.must(1, "Nothing is loaded", cloud, "verify")
			f.must(0, fmt.Sprintf("%d of %[1]d issues restored", len(model.Maps)), cloud, "restore", "--in", "backup.gz", "--yes")
			sameMaps(t, f.backup(cloud, "again.gz"), model.Maps)
			f.must(2, says, cloud, migrate...)
			f.must(exitLook, "Missing\t0", cloud, "verify")
			sameMaps(t, f.backup(cloud, "same.gz"), model.Maps)
		})
	}
}

// sameThreads reads the threads of some issues, and of one that has none.
func sameThreads(t *testing.T, p *loadtest.Process, model *threadstest.Model) {
	t.Helper()
	type comment struct {
		CommentID       int64 `json:",string"`
		ParentCommentID int64 `json:",string"`
	}
	issues := slices.Sorted(maps.Keys(model.Maps))
	for _, issue := range []int64{issues[0], issues[len(issues)/2], issues[len(issues)-1], 1} {
		var answer struct {
			IssueID int64 `json:",string"`
			Parents []comment
			Threads []struct{ CommentID string }
		}
		ask(t, p, fmt.Sprintf("/rest/threaded-comments/1.0/issues/%d/threads", issue), &answer)
		var found threads.ParentMap
		for _, c := range answer.Parents {
			found = append(found, threads.Relation{CommentID: c.CommentID, ParentID: c.ParentCommentID})
		}
		if answer.IssueID != issue || !slices.Equal(found, model.Maps[issue]) || (len(found) > 0) != (len(answer.Threads) > 0) {
			t.Errorf("issue %d has the threads %+v, want %v", issue, answer, model.Maps[issue])
		}
	}
}

// exportBoth fills the self-hosted side and takes everything out again, in
// export.json, script.json and id-mappings.csv.
func exportBoth(t *testing.T, f folder, host *loadtest.Process, records []threads.Record, mappings []threads.IDMapping) {
	t.Helper()
	const site = "https://site.example.net"
	f.write("hierarchy.json", threadstest.Hierarchy(records))
	f.write("mappings.csv", threadstest.CSV(mappings))
	f.must(0, fmt.Sprintf("%d added", len(records)), host, "import", "hierarchy.json")
	f.must(0, fmt.Sprintf("%d added", len(mappings)), host, "mappings", "import", "mappings.csv", "--cloud-site-url", site)
	f.must(0, fmt.Sprintf("%d records written to export.json", len(records)), host, "export", "--out", "export.json")
	f.must(0, fmt.Sprintf("%d mappings written to", len(mappings)), host, "id-mappings", "--cloud-site-url", site)
	var want strings.Builder
	for i, r := range records {
		want.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		want.Write(format.AppendRecord(nil, r))
	}
	want.WriteString("\n]\n")
	if f.read("export.json") != want.String() {
		t.Error("what the client exported is not what was imported")
	}
	if f.script(host) != want.String() {
		t.Error("what the helper script exported is not what was imported")
	}
}

// script runs the helper script with dash, as its archive has it, and returns what
// it wrote.
func (f folder) script(host *loadtest.Process) string {
	f.t.Helper()
	write := exec.CommandContext(f.t.Context(), binary, "threads", "helper-script")
	write.Dir = f.path
	if out, err := write.CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	archive, err := zip.OpenReader(filepath.Join(f.path, "threaded-comments-migration.sh.zip"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer archive.Close()
	file, err := archive.Open("threaded-comments-migration.sh")
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write("threaded-comments-migration.sh", string(text))
	dash := exec.CommandContext(f.t.Context(), "dash", "threaded-comments-migration.sh")
	dash.Dir = f.path
	dash.Stdin = strings.NewReader("1\nhttp://" + host.Addr() + "\nadmin\n" + loadtest.AdminPassword + "\n")
	if out, err := dash.CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	return f.read("comments_hierarchy_export.json")
}

// TestThreadsBadFiles sends the cloud side files that went through something, or
// are others than they should be. Each is told what it is, and nothing is left.
func TestThreadsBadFiles(t *testing.T) {
	t.Parallel()
	p := node(t, loadtest.Settings{Threads: "{max_upload: 4MiB}"}) // 16 MiB when unpacked
	start(t, p)
	f := newFolder(t)
	const (
		hierarchy = `[{"issueId":10001,"commentId":10502,"parentCommentId":10501}]`
		mappings  = "entityType,serverId,cloudId\njira:issue,10001,77\njira:comment,10501,899\njira:comment,10502,900\n"
	)
	for _, c := range []struct {
		name, hierarchy, mappings string
		code                      int
		says                      string
	}{
		{"as they should be", hierarchy, mappings, 0, `"records":1,`},
		{"numbers as strings", `[{"issueId":"10001","commentId":"10502","parentCommentId":"10501"}]`, mappings, 0, `"records":1,`},
		{"the helper script's issue mapping", `{"10001":"77","10002":"78"}`, mappings, 1, "the helper script's issue mapping"},
		{"the mappings twice", mappings, mappings, 1, "CSV"},
		{"the hierarchy twice", hierarchy, hierarchy, 1, "JSON"},
		{"a web page", "<!DOCTYPE html><p>Sign in", mappings, 1, "hierarchy"},
		{"JSON cut off", hierarchy[:len(hierarchy)-9], mappings, 2, "cut off in its first one"},
		{"CSV cut off", hierarchy, mappings + "jira:comment,105", 2, "has no line end, so it may be cut off"},
		{"one page", `{"offset":0,"data":` + hierarchy + `,"hasMore":true,"totalCount":9}`, mappings, 2, "1 of 9: this is one page"},
		{"byte order mark, CRLF, semicolons", "\ufeff" + hierarchy, "\ufeff" + strings.NewReplacer("\n", "\r\n", ",", ";").Replace(mappings), 0, `"commentMappings":2,"issueMappings":1,`},
		{"quotes and tabs, columns in another order", hierarchy, "cloudId\tentityType\tserverId\n\"77\"\t\"jira:issue\"\t\"10001\"\n899\tjira:comment\t10501\n900\tjira:comment\t10502\n", 0, `"totalErrors":0,`},
		{"packed", gzipped(t, hierarchy), zipped(t, mappings), 0, `"totalErrors":0,`},
		{"packed and cut off", gzipped(t, hierarchy)[:60], mappings, 2, "The hierarchy file is cut off"},
		{"a gzip bomb", gzipped(t, "["+strings.Repeat(" ", 17<<20)+"]"), mappings, 1, "16MiB when it is unpacked"},
		{"a zip bomb", hierarchy, zipped(t, mappings+strings.Repeat("\n", 17<<20)), 1, "16MiB when it is unpacked"},
		{"too large", strings.Repeat(" ", 5<<20) + hierarchy, mappings, 1, "4MiB, threads.max_upload"},
		{"a line that is none", hierarchy, mappings + "jira:comment,ten,901\n", 2, "mappings, line 5: "},
	} {
		f.write("hierarchy", c.hierarchy)
		f.write("mappings", c.mappings)
		e := f.threads(p, "migrate", "--hierarchy", "hierarchy", "--mappings", "mappings", "--dry-run", "--json")
		if e.code != c.code || !strings.Contains(e.out+e.err, c.says) {
			t.Errorf("%s: %v\nwant %d and %q", c.name, e, c.code, c.says)
		}
	}
	var left struct{ Items []any }
	ask(t, p, "/rest/threaded-comments/1.0/migration/uploads", &left)
	if len(left.Items) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	file, err := w.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(file, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestThreadsWrongState asks for every operation in every phase that lasts,
// where it is not allowed: each is 409, in words that name what is, and changes
// nothing. On the way a cloud site takes the credentials no more.
func TestThreadsWrongState(t *testing.T) {
	t.Parallel()
	site := newCloud(t)
	p := node(t, loadtest.Settings{Threads: site.settings()})
	start(t, p)
	f := newFolder(t)
	model := f.migrationFiles(5_000, 2)
	server := p.Threads()
	is := func(want threads.Phase) {
		t.Helper()
		var now threads.MigrationStatus
		until(t, patience, "it is not "+string(want), func() bool {
			st, err := server.Status(t.Context())
			now = st
			return err == nil && st.Phase == want
		})
		for _, op := range threads.Operations() {
			if slices.Contains(now.Allowed, op) {
				continue
			}
			_, err := server.Operate(t.Context(), op, threads.Wish{})
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), ", which does not allow "+string(op)+"; allowed are: ") {
				t.Errorf("%s in %s: %v", op, want, err)
			}
		}
		if st, err := server.Status(t.Context()); err != nil || st.Phase != want {
			t.Fatalf("it is %s, %v, and should be %s", st.Phase, err, want)
		}
	}
	var wish threads.Wish
	do := func(op threads.Operation) {
		t.Helper()
		if op != threads.OpUpload {
			wish = threads.Wish{} // the files were not read when they were named
		}
		if _, err := server.Operate(t.Context(), op, wish); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"--hierarchy", "hierarchy.json", "--mappings", "mappings.csv"}
	is(threads.PhaseEmpty)
	if _, err := server.Operate(t.Context(), threads.OpUpload, threads.Wish{}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is missing; choose and send it first") {
		t.Errorf("loaded without files: %v", err)
	}
	wish.Drafts = f.drafts(server)
	do(threads.OpUpload)
	is(threads.PhaseReady)
	f.must(1, "another migration is loaded (READY)", p, append([]string{"migrate"}, files...)...)
	do(threads.OpStart)
	is(threads.PhaseProcessing)
	f.must(1, "follow it: outrigger threads status --wait", p, append([]string{"migrate"}, files...)...)
	do(threads.OpStop)
	is(threads.PhasePaused)
	site.SetFaultMode(cloudsite.Locked, 0)
	do(threads.OpContinue)
	is(threads.PhaseFailed)
	site.SetFaultMode(cloudsite.Works, 0)
	do(threads.OpContinue)
	f.must(2, fmt.Sprintf("%d records not migrated", len(model.Reasons)), p, "status", "--wait")
	is(threads.PhaseCompleted)
	site.holds(t, model)
	do(threads.OpReset)
	wish.Drafts = f.drafts(server)
	do(threads.OpUpload)
	do(threads.OpCancel)
	is(threads.PhaseCancelled)
	f.must(1, "clear it first: outrigger threads reset", p, append([]string{"migrate"}, files...)...)
}

// drafts sends hierarchy.json and mappings.csv, and names them.
func (f folder) drafts(server *client.Client) (sent threads.Drafts) {
	f.t.Helper()
	for kind, name := range map[string]string{threads.HierarchyFile: "hierarchy.json", threads.MappingsFile: "mappings.csv"} {
		file, err := os.Open(filepath.Join(f.path, name))
		if err != nil {
			f.t.Fatal(err)
		}
		defer file.Close()
		draft, err := server.Upload(f.t.Context(), "", kind, file, false, nil)
		if err != nil {
			f.t.Fatal(err)
		}
		if kind == threads.HierarchyFile {
			sent.Hierarchy.ID = draft.ID
		} else {
			sent.Mappings.ID = draft.ID
		}
	}
	return sent
}

// TestThreadsDeadSource mirrors a database that does not take the password: its
// hierarchy is not exported as an empty one, and the reason names no password.
func TestThreadsDeadSource(t *testing.T) {
	t.Parallel()
	p := node(t, loadtest.Settings{
		Threads: `{source: sql, sql: {url: "postgres://outrigger:wr0ng-p4ss@127.0.0.1:1/jira", query: "SELECT 1 AS issueid, 2 AS commentid, 3 AS parentcommentid"}}`,
	})
	start(t, p)
	f := newFolder(t)
	e := f.threads(p, "mirror")
	if e.code != 1 || !strings.Contains(e.err, "The hierarchy was not mirrored: connecting to the host's database") || strings.Contains(e.out+e.err, "wr0ng") {
		t.Errorf("mirror: %v", e)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+"/rest/threaded-comments/1.0/migration/export-data", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "Failing since") || strings.Contains(string(body), "wr0ng") {
		t.Errorf("the export: %d, %v, %s", resp.StatusCode, err, body)
	}
}
