package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// post posts JSON to the console as admin and returns the number of what it made.
func (d demo) post(t *testing.T, path, body string) int64 {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.console+"/rest/mtbs/1.0/configuration"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", d.password)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var made struct{ ID int64 }
	if err != nil || json.Unmarshal(text, &made) != nil || made.ID == 0 {
		t.Fatalf("%s: %s %s", path, resp.Status, text)
	}
	return made.ID
}

// Names of 255 characters without a space and names that run from right to left keep
// their place in lists, forms, the overview and deliveries, on every screen.
func TestLongNamesFit(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	do(t, ctx, "sign in", d.signIn()...)
	d.mode(t, "gone")
	do(t, ctx, "add a chat account", chromedp.Navigate(d.console+"/notifications/mentions/new?connection=demo&teams=ada@example.com"),
		chromedp.SendKeys(`#f-user`, strings.Repeat("long", 40)), chromedp.Submit(`#f-user`), visible(`.flash.good`))
	pages := []string{"/", "/notifications/channels", "/notifications/rules", "/notifications/rules/new", "/notifications/reports/new", "/notifications/deliveries", "/notifications/events/1", "/notifications/mentions", "/system/audit"}
	for i, name := range []string{strings.Repeat("long", 63) + "end", strings.Repeat("إشعارات", 36) + "قنا", "قناة الإصدارات (releases)"} {
		channel := d.post(t, "/channels", fmt.Sprintf(`{"name":%q,"webhookUrl":%q}`, name, d.workflow(fmt.Sprint("name", i))))
		rule := d.post(t, "/filter", fmt.Sprintf(`{"name":%q,"channel":"%d","eventTypes":["PULL_REQUEST_OPENED","PULL_REQUEST_COMMENT_ADDED","PULL_REQUEST_MERGED"]}`, name, channel))
		pages = append(pages, fmt.Sprintf("/notifications/channels/%d", channel), fmt.Sprintf("/notifications/channels/%d/replace", channel),
			fmt.Sprintf("/notifications/rules/%d", rule), fmt.Sprintf("/notifications/deliveries?channel=%d", channel))
	}
	d.send(t)
	var delivery string
	do(t, ctx, "find a delivery and wait for the overview",
		chromedp.Navigate(d.console+pages[len(pages)-1]), visible(`tbody th a`),
		evaluate(`document.querySelector("tbody th a").getAttribute("href")`, &delivery),
		chromedp.Navigate(d.console+"/"), visible(`.health a`))
	for _, width := range []int64{1280, 390} {
		for i, page := range append(pages, delivery) {
			var found string
			var below int
			do(t, ctx, "open "+page, chromedp.EmulateViewport(width, 1000), chromedp.Navigate(d.console+page), visible(`main h1`),
				evaluate(misfits, &found), evaluate(covered, &below), look(t, fmt.Sprintf("long-%d-%02d", width, i)))
			if found != "" || below > 0 {
				t.Errorf("%s at %d px, %d names below an action:\n%s", page, width, below, found)
			}
		}
	}
	var found string
	do(t, ctx, "have a longer name", evaluate(`document.querySelector(".who > summary > span").textContent = "`+strings.Repeat("long", 63)+`"; `+misfits, &found))
	if found != "" {
		t.Errorf("with a long name of the user: %s", found)
	}
}
