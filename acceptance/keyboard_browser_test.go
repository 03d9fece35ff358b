package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused says what has the focus, and after "!" what keeps a reader from seeing
// that: no outline, out of the window, or something in front of it (WCAG 2.2,
// 2.4.7 and 2.4.11). A tall element is seen where one of its corners is.
const focused = `(() => {
	const e = document.activeElement;
	if (e === document.body) return "nothing";
	const lines = e.getClientRects(), first = lines[0], last = lines[lines.length - 1];
	const seen = (x, y) => {
		const top = document.elementFromPoint(x, y);
		return top && (e.contains(top) || top.closest("label")?.contains(e) || top.closest("tr")?.contains(e));
	};
	const said = e.tagName + " " + (e.getAttribute("aria-label") || e.innerText || e.name).trim().replace(/\s+/g, " ") + " " + (e.type === "checkbox" ? e.value : "");
	if (getComputedStyle(e).outlineStyle === "none") return said + "! has no outline";
	if (![[first.left + 4, first.top + 4], [last.right - 4, last.bottom - 4]].some(([x, y]) => seen(x, y)))
		return said + "! is not seen at " + Math.round(first.top) + " px";
	return said;
})()`

// tab presses the Tab key until what has the focus begins with to, or until
// nothing has it, and adds to unseen what a reader does not see on the way.
func tab(to string, unseen *[]string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		var at string
		for range 150 {
			if _, err := chromedp.KeyEvent(kb.Tab)(ctx, target); err != nil {
				return none, err
			}
			if _, err := evaluate(focused, &at)(ctx, target); err != nil {
				return none, err
			}
			if strings.Contains(at, "! ") {
				*unseen = append(*unseen, at)
			}
			if strings.HasPrefix(at, to) || at == nothing {
				break
			}
		}
		if !strings.HasPrefix(at, to) {
			err = fmt.Errorf("the Tab key does not lead to %q", to)
		}
		return none, err
	}
}

const nothing = "nothing"

// TestKeyboard uses the console by keyboard alone: signs in, skips what is on
// every page, is asked before something is deleted, opens a menu and passes it,
// and goes through the longest form. What has the focus is always seen, and the
// focus is where it was when a dialog closes.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	var unseen []string
	var at string
	press := func(keys string) step { return chromedp.KeyEvent(keys) }
	do(t, ctx, "sign in",
		chromedp.Navigate(d.console),
		so(`document.activeElement.name === "user"`),
		press("admin"), tab("INPUT password", &unseen), press(d.password+kb.Enter),
		visible(`.cards`),
	)
	do(t, ctx, "skip what is on every page",
		chromedp.Navigate(d.console+"/notifications/rules"),
		tab("A Skip to main content", &unseen), press(kb.Enter+kb.Tab),
		evaluate(focused, &at),
	)
	if !strings.HasPrefix(at, "A Add a rule") {
		t.Errorf("the first in the main content is %q", at)
	}
	do(t, ctx, "be asked before a rule is deleted",
		tab("SUMMARY Actions of", &unseen), press(kb.Enter), tab("A Delete", &unseen), press(kb.Enter),
		visible(`dialog[open] [data-cancel]`),
		press(kb.Escape),
		chromedp.WaitNotPresent(`dialog`),
		evaluate(focused, &at),
	)
	if !strings.HasPrefix(at, "A Delete") {
		t.Errorf("after the dialog, the focus is on %q", at)
	}
	do(t, ctx, "open a menu and go on",
		chromedp.EmulateViewport(390, 700),
		chromedp.Navigate(d.console),
		tab("SUMMARY Menu", &unseen), press(kb.Enter),
		visible(`details.sections nav`),
		tab("A Threaded Comments Admin", &unseen),
		tab(nothing, &unseen),
	)
	for _, window := range [][2]int64{{1280, 800}, {390, 700}} {
		do(t, ctx, "go through the form of a rule",
			chromedp.EmulateViewport(window[0], window[1]),
			chromedp.Navigate(d.console+"/notifications/rules/new"),
			visible(`#f-webhookUrl`),
			tab("BUTTON Save rule", &unseen),
			tab(nothing, &unseen),
		)
	}
	if len(unseen) > 0 {
		t.Errorf("what has the focus is not seen:\n%s", strings.Join(unseen, "\n"))
	}
}
