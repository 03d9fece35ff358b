package acceptance

import (
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// byKeyboard never uses the mouse.
type byKeyboard struct{ *visitor }

func (byKeyboard) begins() {}

func (k byKeyboard) goes(page string) {
	k.t.Helper()
	k.taken.keys += 2
	k.presses("k", chromedp.KeyModifiers(kb.ModifierCtrl))
	do(k.t, k.ctx, "open the search", shown(`dialog.go-to [aria-selected=true]`, ""))
	k.types(page)
	do(k.t, k.ctx, "find "+page, shown(`dialog.go-to [aria-selected=true]`, "Page "+page))
	k.presses(kb.Enter)
}

// whereFrom says of the control e whether it has the focus or comes before what has it.
const whereFrom = `((at) => ({
	There: e === at,
	Back: at !== document.body && Boolean(at.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING),
	Focused: ` + focused + `,
}))(document.activeElement)`

// reaches presses the Tab key until the control has the focus, from the main content
// on where nothing has it yet and the control is there, and holds that what has the
// focus is seen all the way.
func (k byKeyboard) reaches(kind, name string) {
	k.t.Helper()
	k.awaitsControl(kind, name)
	const skips = `document.activeElement === document.body && Boolean(e.closest("main") && document.querySelector(".skip"))`
	if ofControl[bool](k.visitor, kind, name, skips) {
		k.taken.stops++
		k.taken.keys++
		k.presses(kb.Tab + kb.Enter)
	}
	var passed []string
	for range 150 {
		at := ofControl[struct {
			There, Back bool
			Focused     string
		}](k.visitor, kind, name, whereFrom)
		if strings.Contains(at.Focused, "! ") && !strings.HasPrefix(at.Focused, "MAIN") {
			k.unseen = append(k.unseen, at.Focused)
		}
		if at.There {
			return
		}
		passed = append(passed, at.Focused)
		k.taken.stops++
		if at.Back {
			k.presses(kb.Tab, chromedp.KeyModifiers(kb.ModifierShift))
		} else {
			k.presses(kb.Tab)
		}
	}
	k.t.Fatalf("the Tab key does not lead to %q, but past\n%s", name, strings.Join(passed, "\n"))
}

func (k byKeyboard) uses(kind, name string) {
	k.t.Helper()
	k.reaches(kind, name)
	k.taken.keys++
	k.presses(kb.Enter)
}

func (k byKeyboard) enters(name, text string) {
	k.t.Helper()
	k.reaches(field, name)
	k.types(text) // what was in the field is selected when it gets the focus by the Tab key
}

func (k byKeyboard) picks(kind, name, choice string) {
	k.t.Helper()
	k.reaches(kind, name)
	k.types(choice)
}

func (k byKeyboard) sends(kind, file string) {
	k.t.Helper()
	k.reaches("#"+kind+"-file", "")
	k.taken.keys++
	do(k.t, k.ctx, "send "+file, sendFile(kind, file))
}

func (k byKeyboard) waits(selector, text string) {
	k.t.Helper()
	do(k.t, k.ctx, "wait for "+selector, shown(selector, text))
}
