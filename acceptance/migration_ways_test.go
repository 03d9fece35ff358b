package acceptance

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"outrigger/internal/loadtest"
)

// What is pasted: two replies, of which one has a parent without a mapping.
const (
	fewReplies  = `[{"issueId":1,"commentId":11,"parentCommentId":10},{"issueId":1,"commentId":12,"parentCommentId":99}]`
	fewMappings = "entityType,serverId,cloudId\njira:issue,1,901\njira:comment,10,910\njira:comment,11,911\njira:comment,12,912\n"
)

// withoutScripts has the page's scripts not run from the next page on.
func withoutScripts(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	_, err = cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return none, err
}

// restored checks what the pages of a migration said on the way to its report.
func restored(t *testing.T, why, end, report string) {
	t.Helper()
	has(t, "see why", why, "1 of 2 records will be restored, 1 cannot", "1: The parent comment has no entry in the id mappings.")
	has(t, "the end", end, "completed", "All records are processed.", "1: The parent comment has no entry in the id mappings.")
	has(t, "the report", report, "The parent comment has no entry in the id mappings.")
}

const (
	whole   = `//dd[contains(., "2 / 2 records (100%)")]`
	verdict = `details.verdict`
	// theReport is a page without the console's frame.
	theReport = `//h1[not(contains(., "Threaded Comments Admin"))]`
)

// TestMigrationByMouseWithoutScripts is a migration from pasted files to its report, by
// forms and links alone: what runs is seen when the page is loaded again.
func TestMigrationByMouseWithoutScripts(t *testing.T) {
	t.Parallel()
	d, _ := served(t, loadtest.Settings{})
	for _, width := range []int{1280, 390} {
		ctx := browser(t, width)
		page := d.console + "/threads/admin/migration"
		var why, end, report string
		paste := func(kind, text string) []step {
			form := `form[data-kind=` + kind + `]`
			return []step{
				chromedp.Click(form + ` summary`),
				chromedp.WaitVisible(`#` + kind + `-text`),
				chromedp.SetValue(`#`+kind+`-text`, text),
				chromedp.Click(form + ` .submit button`),
			}
		}
		do(t, ctx, "sign in", append([]step{withoutScripts}, d.signIn()...)...)
		do(t, ctx, "paste the files", append([]step{chromedp.Click(`//section/h2/a[text()="Threaded comments"]`), chromedp.WaitVisible(`#files[open]`)}, paste("hierarchy", fewReplies)...)...)
		do(t, ctx, "paste the mappings", append([]step{chromedp.WaitVisible(`form[data-kind=hierarchy] .badge.good`)}, paste("mappings", fewMappings)...)...)
		do(t, ctx, "see why", chromedp.WaitVisible(`#files.done`), awaits(page, verdict), look(t, "migration-plain-preview"), chromedp.Click(verdict+` summary`), read(verdict, &why))
		do(t, ctx, "load", chromedp.Click(`//button[text()="Upload Data"]`), chromedp.WaitVisible(`.stage.done #step-2`), awaits(page, `//button[text()="Start Processing"]`))
		do(t, ctx, "process",
			chromedp.Click(`//button[text()="Start Processing"]`), chromedp.WaitNotPresent(`//button[text()="Start Processing"]`), awaits(page, whole),
			look(t, "migration-plain-end"), read(`.state`, &end),
			chromedp.Click(`//a[@class="button main"][text()="Report"]`), chromedp.WaitVisible(theReport), read(`body`, &report),
		)
		restored(t, why, end, report)
		do(t, ctx, "reset",
			chromedp.Navigate(page),
			chromedp.Click(`.more > summary`),
			chromedp.Click(`//a[text()="Reset State"]`),
			chromedp.WaitVisible(`button.danger`),
			chromedp.Click(`button.danger`),
			chromedp.WaitVisible(`#files[open]`),
		)
	}
}

// TestMigrationByKeyboard is the same with nothing but keys. What has the focus is
// always seen.
func TestMigrationByKeyboard(t *testing.T) {
	t.Parallel()
	d, _ := served(t, loadtest.Settings{})
	for _, width := range []int{1280, 390} {
		ctx := browser(t, width)
		var unseen []string
		var why, end, report string
		press := func(keys string) step { return chromedp.KeyEvent(strings.ReplaceAll(keys, "\n", kb.Enter)) }
		do(t, ctx, "sign in",
			chromedp.Navigate(d.console),
			chromedp.Poll[chromedp.Void](`document.activeElement.name === "user"`),
			press("admin"), tab("INPUT password", &unseen), press(d.password+kb.Enter),
			chromedp.WaitVisible(`.cards`),
		)
		do(t, ctx, "paste the hierarchy",
			tab("A Threaded comments", &unseen), press(kb.Enter),
			chromedp.WaitVisible(`#files[open]`), settled,
			tab("SUMMARY Paste text instead", &unseen), press(kb.Enter),
			tab("TEXTAREA", &unseen), press(fewReplies),
			tab("BUTTON Send", &unseen), press(kb.Enter),
			chromedp.WaitVisible(`form[data-kind=hierarchy] .badge.good`), settled,
		)
		do(t, ctx, "paste the mappings",
			tab("SUMMARY Paste text instead", &unseen), tab("SUMMARY Paste text instead", &unseen), press(kb.Enter),
			tab("TEXTAREA", &unseen), press(fewMappings),
			tab("BUTTON Send", &unseen), press(kb.Enter),
			chromedp.WaitVisible(verdict), settled,
		)
		do(t, ctx, "see why, and load",
			tab("SUMMARY 1 of 2 records", &unseen), press(kb.Enter),
			chromedp.WaitVisible(verdict+`[open] li`), read(verdict, &why),
			tab("BUTTON Upload Data", &unseen), press(kb.Enter),
			chromedp.WaitVisible(`//button[text()="Start Processing"]`), settled,
		)
		do(t, ctx, "process",
			tab("BUTTON Start Processing", &unseen), press(kb.Enter),
			chromedp.WaitVisible(whole), chromedp.WaitVisible(`//dd[contains(., "relationship")]/a`), settled, read(`.state`, &end),
			tab("A Report", &unseen), press(kb.Enter),
			chromedp.WaitVisible(theReport), read(`body`, &report),
		)
		restored(t, why, end, report)
		if len(unseen) > 0 {
			t.Errorf("what has the focus is not seen:\n%s", strings.Join(unseen, "\n"))
		}
		do(t, ctx, "reset",
			chromedp.Navigate(d.console+"/threads/admin/migration"),
			settled,
			tab("SUMMARY More", &unseen), press(kb.Enter),
			tab("A Reset State", &unseen), press(kb.Enter),
			chromedp.WaitVisible(`dialog[open]`),
			tab(nothing, &unseen), tab("BUTTON Reset State", &unseen), press(kb.Enter), // the focus is on the last of the dialog
			chromedp.WaitVisible(`#files[open]`),
		)
	}
}
