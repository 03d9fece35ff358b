package acceptance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// run runs a script in the page, and puts what it gives where into points.
func run[T any](script string, into *T) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		*into, err = chromedp.Evaluate[T](script)(ctx, target)
		return none, err
	}
}

// TestProgressIsSeen watches a migration to a slow cloud site from one page that
// is not loaded again, and stops and continues it there.
func TestProgressIsSeen(t *testing.T) {
	t.Parallel()
	site := cloudsite.New(cloudsite.Options{Limits: cloudsite.Documented(), Latency: 20 * time.Millisecond})
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	d, _ := served(t, loadtest.Settings{Threads: fmt.Sprintf("{target: jira-cloud, jira_cloud: {url: %q, user: ann@example.com, token: t}}", server.URL)})
	records, mappings := threadstest.Many(720, 3)
	ctx := browser(t, 1280)
	var seen []string
	var state, after string
	var ignored any
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	for _, f := range []struct{ kind, name, content string }{
		{threads.HierarchyFile, "h.json", threadstest.Hierarchy(records)}, {threads.MappingsFile, "m.csv", threadstest.CSV(mappings)},
	} {
		name := filepath.Join(t.TempDir(), f.name)
		if err := os.WriteFile(name, []byte(f.content), 0o600); err != nil {
			t.Fatal(err)
		}
		do(t, ctx, "choose "+f.name, sendFile(f.kind, name))
	}
	do(t, ctx, "process",
		previewed,
		chromedp.Click(`//button[text()="Upload Data"]`),
		chromedp.WaitEnabled(`//button[text()="Start Processing"]`),
		settled,
		chromedp.Click(`//button[text()="Start Processing"]`),
		visible(`.badge.busy`),
		run(`window.seen = []; document.addEventListener("live", () => {
			const text = document.querySelector(".state").textContent.match(/\d+ \/ 720 records \(\d+%\)/);
			if (text && !window.seen.includes(text[0])) window.seen.push(text[0]);
		}); 0`, &ignored),
		func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
			for len(seen) < 2 && err == nil && ctx.Err() == nil {
				seen, err = chromedp.Evaluate[[]string](`window.seen`)(ctx, target)
			}
			return none, err
		},
		look(t, "threads-progress"),
		chromedp.Click(`//button[text()="Stop Processing"]`),
		chromedp.WaitEnabled(`//button[text()="Continue Processing"]`),
		read(`.state`, &state),
		look(t, "threads-paused"),
		chromedp.Click(`//button[text()="Continue Processing"]`),
		visible(`//dd[contains(., "720 / 720 records (100%)")]`),
		read(`.state`, &after),
	)
	t.Log(seen)
	has(t, "when it was stopped", state, "paused IDLE", "0 / 1 processed")
	has(t, "in the end", after, "COMPLETED", "1 / 1 processed", "Issues processed 240", "Parent maps created 720", "Permanent errors 0")
	if strings.Contains(state, "720 / 720") {
		t.Error("it was over before it was stopped")
	}
	if n := len(site.Issues()); n != 240 {
		t.Errorf("the site has threads in %d issues", n)
	}
}

// TestSendingGoesOn has a file that another browser had begun to send go on, and
// another one ask before it takes the place of that.
func TestSendingGoesOn(t *testing.T) {
	t.Parallel()
	d, _ := served(t, loadtest.Settings{})
	content := strings.Repeat(`{"issueId":1,"commentId":2,"parentCommentId":3},`, 40_000)
	name := filepath.Join(t.TempDir(), "comments.json")
	if err := os.WriteFile(name, []byte("["+content+"{}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "[" + content + "{}]"
	begun := begin(t, d, "comments.json", text, 1_000_000)
	ctx := browser(t, 1280)
	var said string
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	do(t, ctx, "go on",
		visible(`form[data-kind=hierarchy] .badge.warn`),
		look(t, "threads-broken-off"),
		sendFile("hierarchy", name),
	)
	if list := uploads(t, d); len(list) != 1 || list[0].URL != begun || list[0].Offset != list[0].Length {
		t.Errorf("it was begun as %s, and in the end there are %v", begun, list)
	}
	begun = begin(t, d, "other.json", strings.Repeat("x", 1000), 400)
	do(t, ctx, "send another one instead",
		chromedp.Reload(),
		chromedp.SetUploadFiles(`#hierarchy-file`, []string{name}),
		visible(`//button[text()="Send this one instead"]`),
		read(`[data-said]`, &said),
		look(t, "threads-instead"),
		chromedp.Click(`//button[text()="Send this one instead"]`),
		visible(`form[data-kind=hierarchy] .badge.good`),
	)
	has(t, "the question", said, "other.json, from admin, begun", "40% of it came in")
	var ignored any
	do(t, ctx, "drop a file",
		run(`const files = new DataTransfer();
			files.items.add(new File(["entityType,serverId,cloudId\njira:issue,1,2\n"], "dropped.csv"));
			document.querySelector("form[data-kind=mappings] [data-drop]").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true })); 0`, &ignored),
		visible(`//form[@data-kind="mappings"]//strong[text()="dropped.csv"]`),
	)
	if list := uploads(t, d); len(list) != 2 || list[0].URL == begun || list[0].Length != int64(len(text)) {
		t.Errorf("in the end there are %v", list)
	}
}

// TestSendingSurvivesAKill kills the server while a browser sends a file; the
// page goes on by itself when the server is back.
func TestSendingSurvivesAKill(t *testing.T) {
	t.Parallel()
	d, p := served(t, loadtest.Settings{})
	const size = 160 << 20
	name := filepath.Join(t.TempDir(), "large.json")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, size)); err != nil {
		t.Fatal(err)
	}
	ctx := browser(t, 1280)
	var percent float64
	var said string
	signInAt(t, ctx, d, "/threads/admin/migration", `.state`)
	do(t, ctx, "send a part",
		chromedp.SetUploadFiles(`#hierarchy-file`, []string{name}),
		func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
			for percent == 0 && err == nil && ctx.Err() == nil {
				percent, err = chromedp.Evaluate[float64](`document.querySelector("form[data-kind=hierarchy] progress").value`)(ctx, target)
			}
			return none, err
		},
	)
	p.Kill()
	do(t, ctx, "wait", visible(`//p[contains(., "Trying again in")]`), read(`[data-said]`, &said), look(t, "threads-away"))
	start(t, p)
	do(t, ctx, "go on", visible(`form[data-kind=hierarchy] .badge.good`))
	t.Logf("killed at %.0f%%, when the page said %q", percent, said)
	if list := uploads(t, d); len(list) != 1 || list[0].Offset != size || list[0].Length != size {
		t.Errorf("in the end there are %v", list)
	}
	if percent == 100 {
		t.Error("it was over before the server was killed")
	}
}

// fingerprint tells a file as the console's module does.
func fingerprint(text string) string {
	const sample = 1 << 20
	a, b := uint32(0x811c9dc5), uint32(0x01000193)
	for _, part := range []string{text[:min(sample, len(text))], text[max(0, len(text)-sample):]} {
		for _, c := range []byte(part) {
			a, b = (a^uint32(c))*0x01000193, (b^uint32(c))*0x01000193
		}
	}
	return fmt.Sprintf("%x-%x-%x", len(text), a, b)
}

// begin sends the first bytes of a hierarchy file, as a browser that is closed
// then, and returns where it is.
func begin(t *testing.T, d demo, name, text string, n int) string {
	t.Helper()
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	resp := tus(t, d, http.MethodPost, d.console+"/rest/threaded-comments/1.0/migration/uploads", "", "Upload-Length", fmt.Sprint(len(text)),
		"Upload-Metadata", "kind "+encode("hierarchy")+",filename "+encode(name)+",fingerprint "+encode(fingerprint(text))+",replace")
	where := resp.Header.Get("Location")
	if resp = tus(t, d, http.MethodPatch, where, text[:n], "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream"); resp.StatusCode != 204 {
		t.Fatal(resp.Status)
	}
	return where
}

func tus(t *testing.T, d demo, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", d.password)
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

type draft struct {
	URL            string
	Offset, Length int64
}

func uploads(t *testing.T, d demo) []draft {
	t.Helper()
	var list struct{ Items []draft }
	text := content(t, download(t, d, "/rest/threaded-comments/1.0/migration/uploads"))
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}
