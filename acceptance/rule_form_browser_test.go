package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	// maxStops is how many times the Tab key is pressed at most from the name of the
	// usual rule to the button that saves it.
	maxStops = 24
	// maxFormHeight is how tall the page of a new rule is at most at 1280 px.
	maxFormHeight = 2_150
)

// countStops counts the presses of the Tab key from the name to the button that saves.
const countStops = `(() => {
	const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
		.filter((e) => e.tabIndex >= 0 && !e.disabled && e.type !== "hidden" && e.checkVisibility({ visibilityProperty: true }));
	return all.indexOf(document.querySelector("form .submit.bar .main")) - all.indexOf(document.getElementById("f-name"));
})()`

// TestTheUsualRule makes the usual rule by keyboard alone: a name, a preset of events,
// a webhook URL, saved with Ctrl+Enter. Its card is beside it meanwhile, and a copy of
// it is pointed out.
func TestTheUsualRule(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	press := func(keys string, options ...chromedp.KeyOption) step { return chromedp.KeyEvent(keys, options...) }
	var stops, height int
	var unseen []string
	var cards, saved, wide, pressed string
	do(t, ctx, "sign in", d.signIn()...)
	do(t, ctx, "open the form",
		chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(d.console+"/notifications/rules/new"),
		visible(`[data-find-event]`),
		evaluate(countStops, &stops),
		evaluate(`document.documentElement.scrollHeight`, &height),
		look(t, "rule-form"),
	)
	t.Logf("%d presses of the Tab key, %d px", stops, height)
	if stops < 5 || stops > maxStops || height > maxFormHeight {
		t.Errorf("%d presses of the Tab key from the name to saving, want at most %d; %d px tall, want at most %d", stops, maxStops, height, maxFormHeight)
	}
	do(t, ctx, "choose a preset",
		chromedp.Focus(`#f-name`), press("Tags"),
		tab("BUTTON Releases", &unseen), press(kb.Enter),
		visible(`.shown-cards .chat-card`),
		read(`.shown-cards`, &cards),
		evaluate(`[...document.querySelectorAll("[data-events] .groups :checked")].map((e) => e.value).join()`, &pressed),
		evaluate(misfits, &wide),
		look(t, "rule-form-preset"),
	)
	if pressed != "TAG_CREATED,TAG_UPDATED,TAG_DELETED" || !strings.Contains(cards, "Tag created") || wide != "" {
		t.Errorf("ticked %s; the cards: %q; %s", pressed, cards, wide)
	}
	do(t, ctx, "save it",
		chromedp.Focus(`#f-webhookUrl`), press(d.chat+"/workflows/tags/triggers/manual/paths/invoke?sig=playground-tags"),
		press(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)),
		visible(`.flash`),
		read(`.flash`, &saved),
	)
	if !strings.Contains(saved, "The rule Tags is saved") || len(unseen) > 0 {
		t.Errorf("saved: %q; not seen: %s", saved, strings.Join(unseen, "; "))
	}
}

// TestEventsAreFound searches the events of the form, and moves among them with the
// arrow keys.
func TestEventsAreFound(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	press := func(keys string) step { return chromedp.KeyEvent(keys) }
	const shown = `[...document.querySelectorAll("[data-events] .choice")].filter((e) => e.checkVisibility()).map((e) => e.innerText.trim()).join()`
	const at = `document.activeElement.value`
	var found, first, second, none, ticked string
	do(t, ctx, "sign in", d.signIn()...)
	do(t, ctx, "search",
		chromedp.Navigate(d.console+"/notifications/rules/new"),
		visible(`[data-find-event]`),
		chromedp.Focus(`[data-find-event]`), press("merged"),
		evaluate(shown, &found),
		press(kb.Enter), evaluate(at, &first), press(" "),
		evaluate(`document.querySelector("[data-events] .groups :checked").value`, &ticked),
		chromedp.Focus(`[data-find-event]`), press(kb.Escape), press("no such event"),
		read(`[data-none]`, &none),
		press(kb.Escape),
		chromedp.Focus(`input[value=BRANCH_CREATED]`), press(kb.ArrowDown), evaluate(at, &second),
	)
	if found != "Pull request merged" || first != "PULL_REQUEST_MERGED" || ticked != first {
		t.Errorf("found %q, then at %q, ticked %q", found, first, ticked)
	}
	if !strings.Contains(none, "No event") || second != "BRANCH_UPDATED" {
		t.Errorf("it says %q; the arrow key leads to %q", none, second)
	}
}

// TestRepositoriesAreFound chooses projects and repositories of the platform while
// they are typed, and masks answer.
func TestRepositoriesAreFound(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, width := range []int64{1280, 390} {
		ctx := browser(t, int(width))
		press := func(keys string) step { return chromedp.KeyEvent(keys) }
		var chosen, project, understood, wide string
		do(t, ctx, "sign in", d.signIn()...)
		do(t, ctx, "find a project and a repository",
			chromedp.EmulateViewport(width, 900),
			chromedp.Navigate(d.console+"/notifications/rules/new?level=repository"),
			visible(`#f-projectKey[role=combobox]`),
			chromedp.Focus(`#f-projectKey`), press("AT"),
			visible(`#f-projectKey-found [role=option]`),
			look(t, fmt.Sprintf("rule-found-%d", width)),
			evaluate(misfits, &wide),
			press(kb.ArrowDown), press(kb.Enter),
			evaluate(`document.getElementById("f-projectKey").value`, &project),
			chromedp.Focus(`#f-repositoryKey`), press("card"),
			visible(`#f-repositoryKey-found [role=option]`),
			press(kb.ArrowDown), press(kb.Enter),
			evaluate(`document.getElementById("f-repositoryKey").value`, &chosen),
		)
		if project != "ATL" || chosen != "card-reader" || wide != "" {
			t.Errorf("at %d px: %s/%s chosen; %s", width, project, chosen, wide)
		}
		do(t, ctx, "type a mask",
			chromedp.SendKeys(`#f-branchMask`, "release/("),
			visible(`#about-branchMask:not(:empty)`),
			read(`#about-branchMask`, &understood),
			look(t, fmt.Sprintf("rule-mask-%d", width)),
		)
		if !strings.Contains(understood, "never closed") {
			t.Errorf("of a mask that is no mask it says %q", understood)
		}
	}
}
