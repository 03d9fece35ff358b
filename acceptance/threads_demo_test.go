package acceptance

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestThreadsInTheDemo migrates the files that the demo's cloud site gives away,
// and finds the threads on the site.
func TestThreadsInTheDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	dir := t.TempDir()
	fetch := func(name string) string {
		t.Helper()
		resp, err := http.Get(d.chat + "/cloud/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		content, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hierarchy, mappings := fetch("comments_hierarchy_export.json"), fetch("id-mappings.csv")
	ctx := browser(t, 1280)
	var source, state, site string
	signInAt(t, ctx, d, "/threads/source", `.table`)
	do(t, ctx, "migrate the files",
		read(`main`, &source),
		chromedp.Navigate(d.console+"/threads/admin/migration"),
		sendFile("hierarchy", hierarchy),
		sendFile("mappings", mappings),
		previewed,
		chromedp.Click(`//button[text()="Upload Data"]`),
		chromedp.WaitEnabled(`//button[text()="Start Processing"]`),
		settled,
		chromedp.Click(`//button[text()="Start Processing"]`),
		visible(`//dd[contains(., "(100%)")]`),
		read(`.state`, &state),
		chromedp.Navigate(d.chat),
		chromedp.Click(`header a[href="/cloud/"]`),
		visible(`article[data-issue] li li`),
		read(`main`, &site),
		look(t, "cloud-site"),
	)
	var highest, wide int
	do(t, ctx, "look at the errors on a phone",
		chromedp.EmulateViewport(390, 844), chromedp.Navigate(d.console+"/threads/admin/migration/errors"), visible(`.errors tbody tr`),
		evaluate(`Math.max(...[...document.querySelectorAll(".errors tbody tr")].map((row) => row.offsetHeight))`, &highest),
		evaluate(`document.documentElement.scrollWidth`, &wide), look(t, "threads-errors-390"))
	if highest > 100 || wide > 390 {
		t.Errorf("an error is %d pixels high, the page %d wide", highest, wide)
	}
	has(t, "the self-hosted side", source, "1,868 replies", "https://site.example.net 2,002 149")
	has(t, "the status", state, "COMPLETED", "1,868 / 1,868 records (100%)", "Parent maps created 1,824", "Permanent errors 44")
	has(t, "the site", site, "144 issues have properties")
}
