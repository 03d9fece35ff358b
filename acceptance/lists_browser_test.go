package acceptance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rowsInSight counts the rows of a list that are wholly in the window.
const rowsInSight = `[...document.querySelectorAll(".list tbody tr")].filter((row) => { const at = row.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }).length`

// tallest is the height of the tallest row.
const tallest = `Math.max(...[...document.querySelectorAll(".list tbody tr")].map((row) => Math.round(row.getBoundingClientRect().height)))`

// cutPlaces counts the rows that do not show a place of usual length in full, and covered
// those whose name runs below their action.
const (
	cutPlaces = `[...document.querySelectorAll(".list td.where")].filter((cell) => cell.innerText.length <= 24 && cell.scrollWidth > cell.clientWidth).length`
	covered   = `[...document.querySelectorAll(".list tbody tr:has(> .actions > a)")].filter((row) => {
		const [name, action] = [row.querySelector("th"), row.querySelector(".actions > a").getBoundingClientRect()];
		const at = name.getBoundingClientRect();
		return at.right - parseFloat(getComputedStyle(name).paddingRight) > action.left && at.bottom > action.top && at.top < action.bottom;
	}).length`
)

// cutEvents counts the rules whose event types do not fit their row.
const cutEvents = `[...document.querySelectorAll(".list td.events > span")].filter((s) => s.scrollHeight > s.clientHeight + 1).length`

// asked counts what the page asked the server for, itself included; a stream of what
// is new does not count as long as it is open.
const asked = `performance.getEntriesByType("resource").length + 1`

// Lists are a line a row, and three lines on a phone; a page asks for few files.
func TestListsAreScanned(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	do(t, ctx, "sign in", d.signIn()...)
	for range 8 {
		d.send(t)
	}
	webhook := d.workflow("groups")
	for i, types := range []string{`"BRANCH_CREATED","PULL_REQUEST_OPENED","COMMIT_COMMENT_ADDED"`, `"BRANCH_CREATED","PULL_REQUEST_OPENED","REPOSITORY_FORKED"`,
		`"BUILD_STATUS_SET","COMMIT_COMMENT_ADDED","REPOSITORY_FORKED"`, `"BRANCH_CREATED","PULL_REQUEST_OPENED","COMMIT_COMMENT_ADDED","BUILD_STATUS_SET"`} {
		d.post(t, "/filter", fmt.Sprintf(`{"name":"groups %d","webhookUrl":%q,"connection":"demo","projectKey":"NONE","eventTypes":[%s]}`, i, webhook, types))
	}
	lists := []string{"/notifications/deliveries", "/notifications/events", "/notifications/rules", "/notifications/channels", "/notifications/reports", "/system/audit"}
	do(t, ctx, "wait until there is enough", chromedp.EmulateViewport(1280, 800), chromedp.Navigate(d.console+lists[0]), visible(`tbody tr:nth-child(50)`))
	for _, list := range lists {
		var total string
		do(t, ctx, "read the total of "+list, chromedp.Navigate(d.console+list), visible(`.list tbody tr`), read(`.total`, &total))
		n, err := strconv.Atoi(strings.Split(total, " ")[0])
		if more := list == lists[0] || list == lists[1]; err != nil || n == 0 || more != (n > 50) {
			t.Errorf("the total of %s is %q", list, total)
		}
	}
	for _, c := range []struct {
		width, height int64
		most          int // pixels of a row
	}{{1280, 800, 37}, {1920, 1000, 37}, {390, 844, 100}} {
		for _, list := range lists {
			var height, rows, files, wide, cut, groups int
			do(t, ctx, "look at "+list, chromedp.EmulateViewport(c.width, c.height), chromedp.Navigate(d.console+list), visible(`.list tbody tr`),
				evaluate(tallest, &height), evaluate(rowsInSight, &rows), evaluate(asked, &files), evaluate(`document.documentElement.scrollWidth`, &wide), evaluate(cutPlaces, &cut), evaluate(cutEvents, &groups),
				look(t, fmt.Sprintf("list%s-%d", strings.ReplaceAll(list, "/", "-"), c.width)))
			if height > c.most {
				t.Errorf("%s at %d px: a row is %d px high", list, c.width, height)
			}
			if files > 8 {
				t.Errorf("%s asks for %d files", list, files)
			}
			if wide > int(c.width) {
				t.Errorf("%s at %d px is %d px wide", list, c.width, wide)
			}
			if cut > 0 && c.width > 390 {
				t.Errorf("%s at %d px: %d rows do not say where", list, c.width, cut)
			}
			if groups > 0 && c.width > 390 {
				t.Errorf("%s at %d px: of %d rules, the event types are cut", list, c.width, groups)
			}
			if list == lists[0] && c.width == 1280 && rows < 14 {
				t.Errorf("%d deliveries are in sight", rows)
			}
		}
	}
}

// A list is gone through, ticked, narrowed and left by keys alone.
func TestListByKeys(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	var at, selected, address, state string
	var ticked bool
	row := `(document.activeElement.closest("tbody tr")?.rowIndex ?? 0) + " " + document.activeElement.tagName`
	do(t, ctx, "sign in", d.signIn()...)
	d.send(t)
	do(t, ctx, "go down and up, and select",
		chromedp.Navigate(d.console+"/notifications/deliveries"), visible(`tbody tr:nth-child(5) .badge.good`),
		chromedp.KeyEvent("jjjk"), evaluate(row, &at),
		chromedp.KeyEvent("x"), evaluate(`document.querySelector("tbody tr:nth-child(2) input").checked`, &ticked),
		visible(`.selection button[value=redeliver]`),
		read(`[data-selected]`, &selected),
	)
	if at != "2 A" || !ticked || selected != "1 delivery selected" {
		t.Errorf("the focus is on %q, ticked %t, %q", at, ticked, selected)
	}
	do(t, ctx, "see the keys", chromedp.KeyEvent("?"), visible(`dialog .keys`), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(`dialog`))
	do(t, ctx, "choose a state",
		chromedp.KeyEvent("/"), evaluate(`document.activeElement.name`, &at),
		evaluate(`(() => { const field = document.querySelector("select[name=state]"); field.value = "failed"; field.dispatchEvent(new Event("change", { bubbles: true })); return ""; })()`, &state),
		visible(`[data-results] .empty`),
		evaluate(`location.search`, &address),
	)
	if at != "state" || address != "?state=failed" {
		t.Errorf("/ leads to %q; the address is %q", at, address)
	}
	do(t, ctx, "go back to all and open one",
		chromedp.Navigate(d.console+"/notifications/deliveries"), visible(`tbody tr`),
		chromedp.KeyEvent("j"+kb.Enter), chromedp.WaitNotPresent(`.list`), visible(`main h1`), evaluate(`location.pathname`, &address),
	)
	if !strings.HasPrefix(address, "/notifications/deliveries/") {
		t.Errorf("Enter leads to %q", address)
	}
}

// announced is what a screen reader is told of the search: how much was found, and the
// option that the field is at.
const announced = `(() => {
	const field = document.querySelector("dialog input[role=combobox][aria-expanded=true]");
	const options = [...document.getElementById(field.getAttribute("aria-controls")).querySelectorAll("[role=option][aria-selected=true]")];
	const at = document.getElementById(field.getAttribute("aria-activedescendant"));
	return options.length === 1 && options[0] === at ? document.querySelector("dialog [role=status]").textContent + ": " + at.textContent : "none";
})()`

// Ctrl+K leads to a rule by a part of its name and to an event by its words, and the same
// search is a page.
func TestGoToAnything(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	var address, page, first, second string
	do(t, ctx, "sign in", d.signIn()...)
	do(t, ctx, "go to a rule",
		chromedp.Navigate(d.console+"/mail"), visible(`a[data-find]`),
		evaluate(`(() => { document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true })); return ""; })()`, &page),
		visible(`dialog.go-to input`),
		chromedp.KeyEvent("pull requests"),
		so(`document.querySelector("dialog [aria-selected=true] .kind")?.textContent === "Rule"`),
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitNotPresent(`dialog`), visible(`main h1`),
		evaluate(`location.pathname`, &address),
	)
	if !strings.HasPrefix(address, "/notifications/") || !strings.Contains(address, "/rules/") {
		t.Errorf("Ctrl+K led to %q", address)
	}
	d.send(t)
	do(t, ctx, "go to an event",
		evaluate(`(() => { document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true })); return ""; })()`, &page),
		visible(`dialog.go-to input`),
		chromedp.KeyEvent("card-reader opened"),
		so(`/^Event .* opened /.test(document.querySelector("dialog [aria-selected=true]")?.textContent)`),
		look(t, "go-to-event"),
		evaluate(announced, &first),
		chromedp.KeyEvent(kb.ArrowDown),
		evaluate(announced, &second),
		chromedp.KeyEvent(kb.Enter),
		chromedp.WaitNotPresent(`dialog`), visible(`.delivery-state`),
	)
	if !regexp.MustCompile(`^\d+ results: Event .* opened `).MatchString(first) || !regexp.MustCompile(`^\d+ results: Delivery `).MatchString(second) || second == first {
		t.Errorf("a screen reader says %q, then %q", first, second)
	}
	do(t, ctx, "search on the page", chromedp.Navigate(d.console+"/find?q=%25%27%22%3Cscript%3E"), visible(`[data-found]`), read(`main`, &page))
	if !strings.Contains(page, "Nothing with this name or number") {
		t.Error(page)
	}
}
