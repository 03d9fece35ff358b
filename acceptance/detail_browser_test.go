package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	// beside is what the detail beside a list is of: its title and where it leads.
	beside = `(document.querySelector(".detail h1")?.innerText ?? "nothing") + " " + (document.querySelector(".detail-bar a")?.pathname ?? "")`
	// named is the page that the address names.
	named = `location.pathname + " " + location.hash.slice(1)`
	// within is the part of the page that has the focus.
	within = `document.activeElement.closest("aside, main")?.tagName ?? "none"`
)

// rowPath is the address of the page of a row, from 1 on.
func rowPath(row int) string {
	return fmt.Sprintf(`document.querySelector(".list tbody tr:nth-child(%d) th a").pathname`, row)
}

// besideIs waits until the page of a row is beside the list.
func besideIs(row int) step {
	return so(`document.querySelector(".detail:not([aria-busy]) .detail-bar a")?.pathname === ` + rowPath(row))
}

// The page of a row opens beside its list on a wide screen, follows the keys, and is
// there again after a reload and after going back.
func TestDetailBesideTheList(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1920)
	d.send(t)
	d.refuseMail(t)
	do(t, ctx, "sign in", d.signIn()...)
	for _, list := range []string{"/notifications/events", "/notifications/deliveries", "/mail/messages", "/notifications/rules", "/notifications/channels"} {
		var first, second, at, opened, moved, again, back, misfit string
		do(t, ctx, "open a row of "+list,
			chromedp.EmulateViewport(1440, 900), chromedp.Navigate(d.console+list), visible(`.list tbody tr:nth-child(2)`),
			evaluate(rowPath(1), &first), evaluate(rowPath(2), &second),
			chromedp.Click(`.list tbody tr:first-child th a`), besideIs(1), evaluate(within, &at), evaluate(named, &opened), evaluate(misfits, &misfit),
			look(t, "detail"+strings.ReplaceAll(list, "/", "-")+"-1440"),
		)
		if at != "ASIDE" || opened != list+" "+first || misfit != "" {
			t.Errorf("%s: the focus is in %s, the address is %q, want %q; %s", list, at, opened, list+" "+first, misfit)
		}
		do(t, ctx, "go on by key, and reload",
			chromedp.EmulateViewport(1920, 1000),
			chromedp.KeyEvent("j"), besideIs(2), evaluate(within, &at), evaluate(named, &moved),
			chromedp.Reload(), besideIs(2), evaluate(named, &again), evaluate(misfits, &misfit),
			look(t, "detail"+strings.ReplaceAll(list, "/", "-")+"-1920"),
		)
		if at != "MAIN" || moved != list+" "+second || again != moved || misfit != "" {
			t.Errorf("%s: the focus is in %s, the address is %q and %q, want %q; %s", list, at, moved, again, second, misfit)
		}
		do(t, ctx, "close it, and go back to it",
			chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(`.detail`), evaluate(named, &at),
			chromedp.NavigateBack(), besideIs(2), evaluate(beside, &back),
			chromedp.Click(`.detail-bar button`), chromedp.WaitNotPresent(`.detail`),
		)
		if at != list+" " || !strings.HasSuffix(back, second) {
			t.Errorf("%s: closed at %q; going back shows %q", list, at, back)
		}
	}
	var address string
	do(t, ctx, "open one where there is no room", chromedp.EmulateViewport(1280, 800), chromedp.Navigate(d.console+"/notifications/events"),
		chromedp.Click(`.list tbody th a`), chromedp.WaitNotPresent(`.list`), evaluate(`location.pathname + location.hash`, &address))
	if !strings.HasPrefix(address, "/notifications/events/") {
		t.Errorf("a row leads to %q", address)
	}
}

// What is done in the page beside a list is done there, or shows in the list.
func TestActionsBesideTheList(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1920)
	d.send(t)
	d.refuseMail(t)
	var flash, at, name, list, kept, events string
	do(t, ctx, "sign in", d.signIn()...)
	do(t, ctx, "send a delivery again",
		chromedp.Navigate(d.console+"/notifications/deliveries"), visible(`.list tbody tr:nth-child(2) .badge.good`),
		chromedp.Click(`.list tbody tr:nth-child(2) th a`), besideIs(2),
		chromedp.Click(`.detail details.menu > summary`), visible(`.detail details.menu button`), chromedp.Click(`.detail details.menu button`),
		visible(`.detail .flash`), read(`.detail .flash`, &flash), evaluate(within, &at), besideIs(2),
		look(t, "detail-sent-again"),
	)
	if !strings.Contains(flash, "back in the queue") || at != "ASIDE" {
		t.Errorf("it says %q, the focus is in %s", flash, at)
	}
	do(t, ctx, "delete a message, which is asked about",
		chromedp.Navigate(d.console+"/mail/messages"), visible(`.list tbody tr:nth-child(3)`),
		evaluate(`document.querySelector(".list tbody tr:nth-child(2) .tick input").value`, &name),
		chromedp.Click(`.list tbody tr:nth-child(2) th a`), besideIs(2),
		chromedp.Click(`.detail details.menu > summary`), visible(`.detail a[data-confirm]`), chromedp.Click(`.detail a[data-confirm]`),
		visible(`dialog button.danger`), look(t, "detail-asked"), chromedp.Click(`dialog button.danger`),
		chromedp.WaitNotPresent(`.detail`), visible(`main .flash`), read(`main .flash`, &flash),
		evaluate(`[...document.querySelectorAll(".tick input[name=id]")].map((box) => box.value).join()`, &list),
	)
	if !strings.Contains(flash, "deleted") || strings.Contains(","+list+",", ","+name+",") {
		t.Errorf("%q; message %s is among %s", flash, name, list)
	}
	do(t, ctx, "change a rule, and be kept from losing that",
		chromedp.Navigate(d.console+"/notifications/rules"), visible(`.list tbody tr:nth-child(2)`),
		chromedp.Click(`.list tbody tr:first-child th a`), besideIs(1),
		chromedp.SetValue(`.detail #f-name`, "Renam"), chromedp.SendKeys(`.detail #f-name`, "ed"),
		chromedp.Click(`.list tbody tr:nth-child(2) th a`), visible(`dialog button.danger`), look(t, "detail-kept"),
		chromedp.Click(`dialog button[autofocus]`), chromedp.WaitNotPresent(`dialog`), besideIs(1),
		evaluate(`document.querySelector(".detail #f-name").value`, &kept),
		evaluate(`((section) => { section.open = true; return ""; })(document.querySelector(".detail #when"))`, &at),
		chromedp.Click(`.detail .presets button:nth-of-type(2)`), evaluate(`[...document.querySelectorAll(".detail [data-events] .groups :checked")].map((box) => box.value).join()`, &events),
		look(t, "detail-rule"),
		chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)),
		chromedp.WaitNotPresent(`.detail`), visible(`main .flash`), read(`main .list`, &list),
	)
	if kept != "Renamed" || !strings.Contains(list, "Renamed") || events != "TAG_CREATED,TAG_UPDATED,TAG_DELETED" {
		t.Errorf("the form has %q and %s, the list %q", kept, events, list)
	}
	do(t, ctx, "be refused",
		chromedp.Click(`.list tbody tr:first-child th a`), besideIs(1), evaluate(rowPath(1), &at),
		chromedp.SetValue(`.detail #f-branchMask`, "release/("), chromedp.Focus(`.detail #f-name`),
		chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)),
		visible(`.detail .field.refused`), evaluate(`document.activeElement.id`, &name), evaluate(`location.hash.slice(1)`, &kept),
		look(t, "detail-refused"),
	)
	if name != "f-branchMask" || kept != at {
		t.Errorf("the focus is at %q, beside the list is %q, want %q", name, kept, at)
	}
}
