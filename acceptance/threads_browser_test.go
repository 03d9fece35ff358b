package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// migrationFiles writes a hierarchy of 10,000 records in 1,000 issues and its
// mappings, with 20 comments that have none, a comment that is its own parent
// and two that answer each other.
func migrationFiles(t *testing.T) (hierarchy, mappings string) {
	t.Helper()
	var records []threads.Record
	csv := []byte(threads.MappingHeader + "\n")
	for i := range int64(1000) {
		issue := 10_001 + i
		csv = format.AppendMapping(csv, threads.IDMapping{EntityType: threads.EntityIssue, ServerID: issue, CloudID: 900_001 + i})
		for n := range int64(11) {
			comment := issue*100 + n
			if i%50 != 0 || n != 5 {
				csv = format.AppendMapping(csv, threads.IDMapping{EntityType: threads.EntityComment, ServerID: comment, CloudID: comment + 5_000_000})
			}
			parent := issue*100 + (n-1)/2
			switch {
			case n == 0:
				continue
			case i == 7 && n == 9:
				parent = comment
			case i == 8 && n == 1:
				parent = issue*100 + 3 // which answers this one
			}
			records = append(records, threads.Record{IssueID: issue, CommentID: comment, ParentCommentID: parent})
		}
	}
	text, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	hierarchy, mappings = filepath.Join(dir, "comments_hierarchy_export.json"), filepath.Join(dir, "id-mappings.csv")
	for name, content := range map[string][]byte{hierarchy: text, mappings: csv} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return hierarchy, mappings
}

// served is a node of its own for a browser.
func served(t *testing.T, s loadtest.Settings) (demo, *loadtest.Process) {
	t.Helper()
	p := node(t, s)
	start(t, p)
	return demo{console: "http://" + p.Addr(), password: loadtest.AdminPassword}, p
}

// signInAt signs in on the way to a page.
func signInAt(t *testing.T, ctx context.Context, d demo, path, sign string) {
	t.Helper()
	do(t, ctx, "sign in",
		chromedp.Navigate(d.console+path),
		visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(sign),
	)
}

func has(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), w) {
			t.Errorf("%s: %q is missing in\n%s", what, w, text)
		}
	}
}

// exported uploads files to a self-hosted side by clicking, and fetches them from
// it again by command, as they are taken to the cloud side.
func exported(t *testing.T, ctx context.Context, hierarchy, mappings string) (string, string) {
	t.Helper()
	const site = "https://site.example.net"
	d, host := served(t, loadtest.Settings{})
	var facts, sites string
	signInAt(t, ctx, d, "/threads/source", `.facts`)
	do(t, ctx, "import on the self-hosted side",
		chromedp.SetUploadFiles(`#hierarchy-file`, []string{hierarchy}),
		chromedp.Click(`//button[text()="Import the hierarchy"]`),
		visible(`//dt[text()="Added"]/following-sibling::dd[text()="10,000"]`),
		look(t, "threads-source-imported"),
		chromedp.Click(`//a[text()="Back"]`),
		visible(`input[name=cloudSiteUrl]`),
		read(`.facts`, &facts),
		chromedp.SendKeys(`input[name=cloudSiteUrl]`, site),
		chromedp.SetUploadFiles(`#mappings-file`, []string{mappings}),
		chromedp.Click(`//button[text()="Import the mappings"]`),
		visible(`//dt[text()="Added"]/following-sibling::dd[text()="11,980"]`),
		chromedp.Click(`//a[text()="Back"]`),
		visible(`tbody tr`),
		read(`tbody`, &sites),
		look(t, "threads-source"),
	)
	has(t, "the self-hosted side", facts, "Records 10,000 replies")
	has(t, "the mappings", sites, site, "10,980", "1,000")
	f := newFolder(t)
	f.must(0, "10000 records written to", host, "export", "--out", "hierarchy.json")
	f.must(0, "11980 mappings written to", host, "id-mappings", "--cloud-site-url", site, "--out", "id-mappings.csv")
	return filepath.Join(f.path, "hierarchy.json"), filepath.Join(f.path, "id-mappings.csv")
}

// TestMigrationByClicking is a migration as an administrator does it: import on
// one server, fetch the files; on another choose them, look at the preview,
// upload, process, look, back up, reset, restore.
func TestMigrationByClicking(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280)
	hierarchy, mappings := migrationFiles(t)
	hierarchy, mappings = exported(t, ctx, hierarchy, mappings)
	d, _ := served(t, loadtest.Settings{})
	var state, preview, errors, tree string
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	do(t, ctx, "choose the files",
		look(t, "threads-empty"),
		sendFile("hierarchy", hierarchy),
		sendFile("mappings", mappings),
		visible(`//summary[contains(., "9,977 of 10,000 records will be restored, 23 cannot: see why")]`),
		look(t, "threads-files"),
	)
	do(t, ctx, "look at the preview",
		chromedp.Click(`//a[text()="Show the whole preview"]`),
		visible(`.ids`),
		read(`main`, &preview),
		look(t, "threads-preview"),
	)
	has(t, "the preview", preview, "Nothing is loaded yet", "Comment mappings 10,980", "Issue mappings 1,000", "Comments without a mapping 20",
		"The comment has no entry in the id mappings. no_comment_mapping 20", "self_parent 1", "cycle 2", "1000105")
	do(t, ctx, "upload and process",
		chromedp.Click(`//a[text()="Back to the migration"]`),
		chromedp.Click(`//button[text()="Upload Data"]`),
		chromedp.WaitEnabled(`//button[text()="Start Processing"]`),
		look(t, "threads-ready"),
		settled,
		chromedp.Click(`//button[text()="Start Processing"]`),
		visible(`//dd[contains(., "10,000 / 10,000 records (100%)")]`),
		read(`.state`, &state),
		look(t, "threads-completed"),
	)
	has(t, "the status", state, "COMPLETED", "10 / 10 processed", "Issues processed 1,000", "Parent maps created 9,977", "Permanent errors 23")
	do(t, ctx, "look at errors, threads and the comparison",
		chromedp.Click(`//a[text()="Show errors"]`),
		visible(`tbody tr`),
		read(`main`, &errors),
		look(t, "threads-errors"),
		chromedp.Navigate(d.console+"/threads/admin/issue?id=900002"),
		visible(`tbody tr`),
		read(`main`, &tree),
		look(t, "threads-issue"),
		chromedp.Navigate(d.console+"/threads/admin/migration/verify"),
		chromedp.Click(`//button[text()="Verify now"]`),
		visible(`//span[contains(., "9,977 of 9,977 relationships are correct in the target. 23 records could not be compared.")]`),
		look(t, "threads-verify"),
	)
	has(t, "the errors", errors, "The comment has no entry in the id mappings. no_comment_mapping 20", "The comment's parents lead back to it. cycle 2", "1000809", "self_parent", "Download all 23 as CSV")
	has(t, "the threads", tree, "11 comments", "6000200 0 starts a thread 6000201 1 6000200 6000203 2 6000201 6000207 3 6000203")

	backup := download(t, d, "/rest/threaded-comments/1.0/migration/backup")
	before := download(t, d, "/rest/threaded-comments/1.0/issues/900002/threads")
	do(t, ctx, "reset",
		chromedp.Navigate(d.console+"/threads/admin/migration"),
		chromedp.Click(`.more > summary`),
		chromedp.Click(`//a[text()="Reset State"]`),
		visible(`dialog`),
		look(t, "threads-reset"),
		chromedp.Click(`button.danger`),
		visible(`#files[open]`),
	)
	do(t, ctx, "restore",
		chromedp.Click(`//nav[@class="tabs"]/a[text()="Backup & Restore"]`),
		sendFile("backup", backup),
		chromedp.Click(`input[value=replace]`),
		look(t, "threads-backup"),
		chromedp.Click(`//button[text()="Restore …"]`),
		visible(`button.danger`),
		look(t, "threads-restore"),
		chromedp.Click(`button.danger`),
		visible(`//dd[contains(., "1,000 / 1,000 issues (100%)")]`),
		look(t, "threads-restored"),
	)
	if a, b := content(t, before), content(t, download(t, d, "/rest/threaded-comments/1.0/issues/900002/threads")); a != b || len(a) < 100 {
		t.Errorf("before the restore %s, after it %s", a, b)
	}
}

// TestMigrationOnAPhone looks at the tool on a narrow screen in the dark, with
// pasted text of which a part is one page of an export.
func TestMigrationOnAPhone(t *testing.T) {
	t.Parallel()
	d, _ := served(t, loadtest.Settings{})
	ctx := browser(t, 390)
	var question, state, menu string
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	page := `{"offset":0,"data":[{"issueId":10001,"commentId":10502,"parentCommentId":10501}],"hasMore":true,"totalCount":123456}`
	do(t, ctx, "paste",
		func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
			_, err = chromedp.Evaluate[any](`localStorage.setItem("outrigger-theme", "dark")`)(ctx, target)
			return none, err
		},
		chromedp.Reload(),
		look(t, "threads-narrow"),
		chromedp.Click(`form[data-kind=hierarchy] summary`),
		chromedp.SetValue(`#hierarchy-text`, page),
		chromedp.Click(`form[data-kind=hierarchy] .submit button`),
		visible(`form[data-kind=hierarchy] .badge.good`),
		chromedp.Click(`form[data-kind=mappings] summary`),
		chromedp.SetValue(`#mappings-text`, "entityType,serverId,cloudId\njira:issue,10001,900001\njira:comment,10502,7\njira:comment,10501,8\n"),
		chromedp.Click(`form[data-kind=mappings] .submit button`),
		visible(`form[data-kind=mappings] .badge.good`),
		visible(`.stage .attention`),
		chromedp.Click(`.more > summary`),
		visible(`.more .panel`),
		evaluate(misfits, &menu),
		chromedp.Click(`.more > summary`),
		chromedp.Click(`//a[text()="Upload Data"]`),
		visible(`dialog`),
		read(`dialog`, &question),
		look(t, "threads-partial"),
		chromedp.Click(`dialog button.danger`), // without the tick nothing is posted
		visible(`dialog input[name=acceptIncomplete]:invalid`),
		chromedp.Click(`dialog input[name=acceptIncomplete]`),
		look(t, "threads-partial-ticked"),
		chromedp.Click(`dialog button.danger`),
		chromedp.WaitEnabled(`//button[text()="Start Processing"]`),
		look(t, "threads-narrow-ready"),
		settled,
		chromedp.Click(`//button[text()="Start Processing"]`),
		visible(`//span[@class="badge warn"][text()="completed"]`),
		read(`.state`, &state),
		look(t, "threads-narrow-incomplete"),
		chromedp.Navigate(d.console+"/threads/admin/migration/preview"),
		visible(`.attention`),
		look(t, "threads-narrow-preview"),
	)
	if menu != "" {
		t.Errorf("with the menu open: %s", menu)
	}
	has(t, "the question", question, "1 of 123,456: this is one page")
	has(t, "the status", state, "The data was accepted as incomplete", "1 of 123,456: this is one page")
}

// download asks as the administrator, and returns a file with the answer.
func download(t *testing.T, d demo, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.console+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", d.password)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	name := filepath.Join(t.TempDir(), fmt.Sprintf("answer-%d", len(body)))
	if err := os.WriteFile(name, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
