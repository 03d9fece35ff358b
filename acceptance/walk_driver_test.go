package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// driver uses pages in one way: by keyboard alone, or without JavaScript. A control is
// named by its kind, which is a selector, and by what its name begins with.
type driver interface {
	// begins prepares the browser.
	begins()
	// goes goes to a page of the console that the navigation has.
	goes(page string)
	// uses follows a link, presses a button or opens what is folded.
	uses(kind, name string)
	// enters replaces what is in a field by a text.
	enters(name, text string)
	// picks takes the choice of a select field or of a group of radio buttons.
	picks(kind, name, choice string)
	// sends chooses a file of a migration, and waits until it has arrived.
	sends(kind, file string)
	// waits waits for what comes by itself, where a page can do that.
	waits(selector, text string)
}

const (
	link   = "a[href]"
	button = "button"
	folded = "summary"
	field  = "input:not([type=hidden], [type=radio], [type=checkbox]), textarea, select"
	radio  = "input[type=radio]"
)

// controlNamed is a function that finds a control by its kind and the beginning of its name.
const controlNamed = `
const nameOf = (e) => (e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "").trim().replace(/\s+/g, " ");
const usable = (e) => e.tabIndex >= 0 && !e.disabled && !e.closest("[aria-hidden=true]") && e.checkVisibility({ visibilityProperty: true });
const controlNamed = (kind, name) => [...document.querySelectorAll(kind)].find((e) => usable(e) && nameOf(e).startsWith(name));
`

// visitor walks through pages, and counts what that takes.
type visitor struct {
	t      *testing.T
	ctx    context.Context
	d      demo
	taken  struct{ stops, keys, texts, clicks, reloads int }
	unseen []string
}

// ofControl evaluates an expression about the control of a name, which is e in it.
func ofControl[T any](v *visitor, kind, name, expression string) (said T) {
	v.t.Helper()
	arguments, err := json.Marshal([]string{kind, name})
	if err != nil {
		v.t.Fatal(err)
	}
	asked := fmt.Sprintf(`(() => { %s const e = controlNamed(...%s); return %s; })()`, controlNamed, arguments, expression)
	do(v.t, v.ctx, "look for "+name, evaluate(asked, &said))
	return said
}

// awaitsControl waits until there is a control of that name.
func (v *visitor) awaitsControl(kind, name string) {
	v.t.Helper()
	for until := time.Now().Add(stepsTime); !ofControl[bool](v, kind, name, "Boolean(e)"); {
		if time.Now().After(until) {
			var text string
			do(v.t, v.ctx, "read the page", evaluate(`document.body.innerText`, &text))
			v.t.Fatalf("there is no %s %q on the page:\n%s", kind, name, text)
		}
		pass(v.t, 50*time.Millisecond)
	}
}

func (v *visitor) presses(keys string, options ...chromedp.KeyOption) {
	v.t.Helper()
	do(v.t, v.ctx, fmt.Sprintf("press %q", keys), chromedp.KeyEvent(keys, options...))
}

func (v *visitor) types(text string) {
	v.t.Helper()
	v.taken.texts++
	v.presses(text)
}

// isShown says whether a page has an element that is seen and has that text in it.
func isShown(selector, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.checkVisibility() && e.innerText.includes(%q))`, selector, text)
}

// shown waits until that is so, whatever became of the page before.
func shown(selector, text string) step {
	return so(isShown(selector, text))
}

// so waits until an expression is true, on this page or on one that takes its place.
func so(expression string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for {
			if is, _ := chromedp.Evaluate[bool](expression)(ctx, target); is { // an error while the page is left
				return none, nil
			}
			select {
			case <-ctx.Done():
				return none, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

// inFront has pages behave as those of the window that is used, also when another
// process takes over.
func inFront(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	return none, target.Call(ctx, "Emulation.setFocusEmulationEnabled", map[string]bool{"enabled": true}, &struct{}{})
}
