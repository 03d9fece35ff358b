package acceptance

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// withoutScripts uses the mouse, on pages that run no JavaScript.
type withoutScripts struct{ *visitor }

func (m withoutScripts) begins() {
	m.t.Helper()
	do(m.t, m.ctx, "turn JavaScript off", func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		return none, target.Call(ctx, "Emulation.setScriptExecutionDisabled", map[string]bool{"value": true}, &struct{}{})
	})
}

func (m withoutScripts) goes(page string) {
	m.t.Helper()
	if ofControl[bool](m.visitor, folded, "Menu", "Boolean(e)") {
		m.uses(folded, "Menu")
	}
	m.uses(`nav[aria-label=Console] a`, page)
}

// placeOf is where the control e is clicked on: near its beginning, since a link may
// have two lines.
const placeOf = `(() => {
	e.scrollIntoView({ block: "center" });
	const box = e.getBoundingClientRect();
	return { X: box.left + Math.min(box.width, 24) / 2, Y: box.top + Math.min(box.height / 2, 16) };
})()`

func (m withoutScripts) uses(kind, name string) {
	m.t.Helper()
	m.awaitsControl(kind, name)
	at := ofControl[struct{ X, Y float64 }](m.visitor, kind, name, placeOf)
	m.taken.clicks++
	click := chromedp.MouseClickXY(at.X, at.Y)
	if !strings.HasSuffix(kind, button) && !strings.HasSuffix(kind, " a") && kind != link {
		do(m.t, m.ctx, "click on "+name, click)
		return
	}
	var marked bool
	do(m.t, m.ctx, "click on "+name, evaluate(`window.left = true`, &marked), click, newPage)
}

// newPage waits until another page is there than the one that has the mark.
func newPage(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	return so(`!window.left && document.readyState === "complete"`)(ctx, target)
}

func (m withoutScripts) enters(name, text string) {
	m.t.Helper()
	m.uses(field, name)
	m.presses("a", chromedp.KeyModifiers(kb.ModifierCtrl))
	m.types(text)
}

func (m withoutScripts) picks(kind, name, choice string) {
	m.t.Helper()
	m.uses(kind, name)
	m.types(choice)
}

func (m withoutScripts) sends(kind, file string) {
	m.t.Helper()
	do(m.t, m.ctx, "choose "+file, chromedp.SetUploadFiles("#"+kind+"-file", []string{file}))
	m.taken.clicks++
	m.uses("form[data-kind="+kind+"] "+button, "Send")
}

func (m withoutScripts) waits(selector, text string) {
	m.t.Helper()
	for until := time.Now().Add(stepsTime); ; {
		var there bool
		do(m.t, m.ctx, "look for "+selector, evaluate(isShown(selector, text), &there))
		if there {
			return
		}
		if time.Now().After(until) {
			m.t.Fatalf("%s does not come", selector)
		}
		if ofControl[bool](m.visitor, link, "Reload the page", "Boolean(e)") {
			m.taken.reloads++
			m.uses(link, "Reload the page")
		} else { // the page is on its way
			pass(m.t, 50*time.Millisecond)
		}
	}
}
