package acceptance

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads/threadstest"
)

// TestMappingsOfAnotherSiteInABrowser types the site of a mapping, which a browser's
// download does not carry: one that is no address is refused, another site than the
// target is asked about in words that name both, and so do preview and report.
func TestMappingsOfAnotherSiteInABrowser(t *testing.T) {
	t.Parallel()
	site := cloudsite.New(cloudsite.Options{Limits: cloudsite.Documented()})
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	d, _ := served(t, loadtest.Settings{Threads: fmt.Sprintf("{target: jira-cloud, jira_cloud: {url: %q, user: ann@example.com, token: t}}", server.URL)})
	records, mappings := threadstest.Many(30, 3)
	dir := t.TempDir()
	file := func(name, content string) []string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{path}
	}
	hierarchy, csv := file("h.json", threadstest.Hierarchy(records)), file("m.csv", threadstest.CSV(mappings))
	const other = "https://other.example.com"
	const field, chosen, good = `input[name=site]`, `#mappings-file`, `form[data-kind=mappings] .badge.good`
	var refused, again, preview, question, done string
	ctx := browser(t, 1280)
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	do(t, ctx, "choose the files",
		chromedp.SetUploadFiles(`#hierarchy-file`, hierarchy),
		visible(`form[data-kind=hierarchy] .badge.good`),
		chromedp.SendKeys(field, "other"),
		chromedp.SetUploadFiles(chosen, csv),
		visible(`//form[@data-kind="mappings"]//p[@data-said and contains(., "site")]`),
		read(`form[data-kind=mappings] [data-said]`, &refused),
		look(t, "threads-site-refused"),
		chromedp.SetValue(field, other+"/"),
		chromedp.SetUploadFiles(chosen, csv),
		visible(good),
		look(t, "threads-site"),
	)
	has(t, "a site that is no address", refused, "Its site must be the URL of the cloud site")
	// The page is loaded again when a file is there.
	const there = `window.before ? document.querySelector("form[data-kind=mappings] [data-said]").textContent : "there"`
	var begun any
	do(t, ctx, "choose the same file for the same site again",
		run(`window.before = true`, &begun),
		chromedp.Click(`#files > summary`),
		chromedp.SendKeys(field, "https://OTHER.example.com"),
		chromedp.SetUploadFiles(chosen, csv),
		func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
			for again != "there" && !strings.Contains(again, "Another file") && ctx.Err() == nil {
				again, _ = chromedp.Evaluate[string](there)(ctx, target) // an error while the page is left
			}
			return none, ctx.Err()
		},
	)
	if again != "there" {
		t.Errorf("the same file for the same site: %s", again)
	}
	do(t, ctx, "look at the preview, and upload",
		chromedp.Navigate(d.console+"/threads/admin/migration"),
		chromedp.Click(`//a[text()="Show the whole preview"]`),
		visible(`//p[contains(., "Nothing is loaded yet")]`),
		read(`main`, &preview),
		look(t, "threads-site-preview"),
		chromedp.Click(`//a[text()="Back to the migration"]`),
		chromedp.Click(`//a[text()="Upload Data"]`),
		visible(`dialog`),
		read(`dialog`, &question),
		look(t, "threads-site-question"),
		chromedp.Click(`dialog input[type=checkbox]`),
		chromedp.Click(`//dialog//button[text()="Upload Data"]`),
		chromedp.WaitEnabled(`//button[text()="Start Processing"]`),
		settled,
		chromedp.Click(`//button[text()="Start Processing"]`),
		visible(`//dd[contains(., "30 / 30 records (100%)")]`),
		read(`.state`, &done),
	)
	report, err := os.ReadFile(download(t, d, "/rest/threaded-comments/1.0/migration/report"))
	if err != nil {
		t.Fatal(err)
	}
	differ := "is for " + other + ", but the target is " + server.URL
	has(t, "the preview", preview, differ)
	has(t, "the question", question, "Upload id mappings for another site?", differ, "Load them for "+server.URL+" all the same.")
	has(t, "the status", done, "COMPLETED")
	has(t, "the report", string(report), differ)
}
