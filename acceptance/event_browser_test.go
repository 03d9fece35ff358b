package acceptance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// send has the demo's platform send ten events, and is back when they are taken.
func (d demo) send(t *testing.T) {
	t.Helper()
	resp, err := http.PostForm(d.chat+"/events", url.Values{"count": {"10"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// TestWhyAnEventWasNotSent: a rule takes nothing, its events say which filter
// says no; the rule is mended, which its form shows on the same events before it
// is saved, and the next ones are taken.
func TestWhyAnEventWasNotSent(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			var first, event, again, folded, trial, list string
			do(t, ctx, "sign in", d.signIn()...)
			do(t, ctx, "narrow a rule to branches that are not there",
				chromedp.Navigate(d.console+"/notifications/rules/1"),
				visible(`#rule`),
				picture("rule-folded"),
				chromedp.Click(`#where > summary`),
				visible(`input[name=branchMask]`),
				chromedp.SendKeys(`input[name=branchMask]`, "none/.*"),
				chromedp.Submit(`input[name=branchMask]`),
				visible(`.flash.good`),
			)
			d.send(t)
			do(t, ctx, "see what came in",
				chromedp.Navigate(d.console+"/notifications/events"),
				visible(`tbody tr`),
				picture("events"),
			)
			do(t, ctx, "read why it was not sent",
				chromedp.Click(`tbody tr:first-child th a`),
				visible(`table`),
				read(`main`, &event),
				func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
					first, err = chromedp.Location()(ctx, target)
					return none, err
				},
				picture("event"),
			)
			for _, text := range []string{"did not take it", "Branch mask: the rule wants none/.*, the event has"} {
				if !strings.Contains(event, text) {
					t.Errorf("the event's page does not say %q:\n%s", text, event)
				}
			}
			do(t, ctx, "mend the rule",
				chromedp.Navigate(d.console+"/notifications/rules/1"),
				visible(`[data-answer*="/try"] summary`), // by itself, as the page is opened
				chromedp.Click(`[data-answer*="/try"] summary`),
				visible(`.tried .badge.quiet`),
				read(`#where > summary`, &folded),
				chromedp.Click(`#where > summary`),
				visible(`input[name=branchMask]`),
				picture("rule-tried-before"),
				chromedp.SendKeys(`input[name=branchMask]`, kb.End+"|.*"),
				visible(`.tried .badge.good`),
				read(`[data-answer*="/try"]`, &trial),
				picture("rule-tried-after"),
				chromedp.Submit(`input[name=branchMask]`),
				visible(`.flash.good`),
			)
			if !strings.Contains(folded, "branches like none/.*") {
				t.Errorf("the folded section says %q", folded)
			}
			if !strings.Contains(trial, "It would have taken") {
				t.Errorf("the form does not say what the rule would have taken:\n%s", trial)
			}
			d.send(t)
			do(t, ctx, "see that the next ones are taken, and that the first one was not",
				chromedp.Navigate(d.console+"/notifications/events?outcome=taken"),
				visible(`tbody tr`),
				read(`main`, &list),
				picture("events-taken"),
				chromedp.Navigate(first),
				visible(`table`),
				read(`main`, &again),
				picture("event-then"),
			)
			if !strings.Contains(list, "taken by") {
				t.Errorf("no event was taken:\n%s", list)
			}
			if !strings.Contains(again, "the rule wants none/.*") || !strings.Contains(again, "changed since by admin") {
				t.Errorf("the first event is not explained by the rule as it was:\n%s", again)
			}
		})
	}
}
