package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// misfits names what does not fit on a page: what makes it scroll sideways, a
// list wider than its box, and each control that is cut off, whose label breaks
// within its button, or that is smaller than 24 px (WCAG 2.2, 2.5.8, which
// excepts links in sentences).
const misfits = `(() => {
	const wide = document.documentElement.clientWidth, found = [];
	const name = (e) => e.tagName.toLowerCase() + " " + (e.innerText || e.getAttribute("aria-label") || e.name || "").trim();
	if (document.documentElement.scrollWidth > wide) found.push("the page scrolls sideways");
	for (const table of document.querySelectorAll(".table"))
		if (table.scrollWidth > table.clientWidth + 1) found.push("the table " + table.getAttribute("aria-label") + " is wider than its box");
	for (const e of document.querySelectorAll("a, button, input, select, textarea, summary")) {
		if (!e.checkVisibility({ visibilityProperty: true }) || e.closest(".unseen, .skip")) continue;
		const box = (e.closest("label") ?? e).getBoundingClientRect();
		const inText = e.matches("a:not(.button)") && [...e.parentNode.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
		if (box.left < 0 || box.right > wide + 1) found.push(name(e) + " is cut off");
		if (e.matches("button.small") && box.height > 40) found.push(name(e) + " breaks in its button");
		if (!inText && Math.min(box.width, box.height) < 23.5) found.push(name(e) + " is " + Math.round(box.width) + " by " + Math.round(box.height) + " px");
	}
	return found.join("\n");
})()`

// refuseMail leaves messages in the error queue.
func (d demo) refuseMail(t *testing.T) {
	t.Helper()
	for _, step := range []struct{ path, name, value string }{{"mode", "mode", "refuses"}, {"send", "count", "10"}} {
		resp, err := http.PostForm(d.chat+"/mail/"+step.path, url.Values{step.name: {step.value}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}

// TestPagesFit opens every page on a desk's screen and on a
// phone's: none scrolls sideways, and no control is cut off or too small. Of the
// pages that ask before something is lost, which share a template, it opens those
// with the longest texts.
func TestPagesFit(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	d.send(t)
	d.refuseMail(t)
	var account string
	do(t, ctx, "sign in", d.signIn()...)
	do(t, ctx, "revoke an account, which its rules then ask for",
		chromedp.Navigate(d.console+"/notifications/cloud/accounts/1/revoke"),
		chromedp.Click(`button.danger`),
		visible(`.flash`),
		chromedp.Navigate(d.console+"/notifications/cloud/rules?connection=cloud&workspace=atlas&repository=engine"),
		visible(`tbody tr`),
		read(`tbody`, &account),
	)
	if !strings.Contains(account, "authorisation required") {
		t.Errorf("the rules of a revoked account are %q", account)
	}
	var secret string
	do(t, ctx, "rotate the secret of a hook",
		chromedp.Navigate(d.console+"/notifications/connections/demo/new-hook"),
		chromedp.SendKeys(`#f-name`, "atlas"),
		chromedp.SendKeys(`#f-projectKey`, "ATL"),
		chromedp.Submit(`#f-name`),
		visible(`[data-copy]`),
		evaluate(misfits, &secret),
		chromedp.EmulateViewport(390, 1000),
	)
	if secret != "" {
		t.Errorf("the page of a new secret: %s", secret)
	}
	pages := strings.Fields(`/
		/notifications/rules /notifications/rules?level=global /notifications/rules?level=project /notifications/rules?level=repository
		/notifications/rules/new /notifications/rules/1 /notifications/rules/1/delete /notifications/rules?search=none
		/notifications/cloud /notifications/cloud/rules/new?connection=cloud&workspace=atlas&repository=engine
		/notifications/cloud/rules?connection=cloud&workspace=atlas&repository=engine
		/notifications/cloud/rules?connection=cloud&workspace=atlas&repository=loom /notifications/cloud/accounts
		/notifications/reports /notifications/reports/new /notifications/reports/1 /notifications/reports/1/view
		/notifications/connections /notifications/connections/demo /notifications/connections/demo/webhooks /notifications/connections/demo/new-hook
		/notifications/connections/demo/hooks/atlas/delete
		/notifications/connections/cloud /notifications/connections/cloud/edit /notifications/connections/cloud/webhooks
		/notifications/new-connection /notifications/new-connection?kind=bitbucket-cloud
		/notifications/deliveries/99999
		/notifications/mentions /notifications/mentions/new /notifications/mentions/import /notifications/renames /notifications/settings
		/mail /mail/messages /mail/messages?state=error /mail/messages/delete /threads/source /threads/admin/migration
		/threads/admin/migration/verify /threads/admin/migration/reset /threads/admin/backup /threads/admin/issue
		/system/audit /system/about /system/about/licence?module=Go /system/users /system/users/new
		/system/users/named/admin /system/users/named/admin/access /system/users/named/admin/grant
		/system/users/named/admin/delete /system/groups /system/groups/grant /system/groups/named/outrigger-admins
		/system/nodes /system/backup
		/account/password /account/second-factor /account/second-factor/app /account/second-factor/passkeys/new /account/sessions /account/tokens
		/account/tokens/new /confirm /no/such/page /docs/ /docs/install /docs/mail /docs/commands /docs/settings`)
	for _, list := range []string{"/notifications/deliveries", "/notifications/channels", "/notifications/events", "/mail/messages", "/system/groups", "/notifications/cloud/rules?connection=cloud&workspace=atlas&repository=engine"} {
		var one string
		do(t, ctx, "find a page of "+list,
			chromedp.Navigate(d.console+list),
			visible(`tbody th a`),
			evaluate(`document.querySelector("tbody th a").getAttribute("href")`, &one),
		)
		pages = append(pages, list, one)
	}
	for _, width := range []int64{1280, 390} {
		do(t, ctx, "take another window", chromedp.EmulateViewport(width, 1000))
		for _, page := range pages {
			var found string
			do(t, ctx, "open "+page,
				chromedp.Navigate(d.console+page),
				visible(`main h1`),
				evaluate(`document.querySelectorAll("details.section, main details.menu:not(.row)").forEach((section) => { section.open = true; }); `+misfits, &found),
			)
			if found != "" {
				t.Errorf("%s at %d px:\n%s", page, width, found)
			}
		}
	}
}
