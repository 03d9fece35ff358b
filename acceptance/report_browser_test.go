package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReportByForm makes an activity report by the console's form: when it runs
// next is said as the schedule is chosen, it is tested before it is saved, and
// viewed in the list.
func TestReportByForm(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			var list, next, tested, shown, view, chat string
			do(t, ctx, "sign in", d.signIn()...)
			do(t, ctx, "choose a schedule",
				chromedp.Navigate(d.console+"/notifications/reports"),
				visible(`tbody tr`),
				picture("reports"),
				chromedp.Navigate(d.console+"/notifications/reports/new"),
				visible(`.day`),
				picture("report-new"),
				chromedp.SendKeys(`#f-name`, "Every morning"),
				chromedp.SendKeys(`#f-connection`, "demo"),
				chromedp.SendKeys(`#f-repository`, "ATL/card-reader"),
				chromedp.SetValue(`#f-timeZone`, "Asia/Kolkata"),
				chromedp.SendKeys(`#f-frequency`, "Every working"), // as a keyboard chooses it
				chromedp.WaitNotVisible(`.day`),
				visible(`//p[@class="next"][contains(text(), "Asia/Kolkata")]`),
				read(`.next`, &next),
				visible(`.shown-cards .chat-card`),
				read(`.shown-cards`, &shown),
				picture("report-preview"),
			)
			if !strings.Contains(shown, "7 open pull requests, 5 inactive for 7 days or more") || !strings.Contains(shown, "Every morning") {
				t.Errorf("beside the form: %q", shown)
			}
			if !strings.HasPrefix(next, "Next: ") || !strings.HasSuffix(next, ", 09:00 Asia/Kolkata") {
				t.Errorf("it says %q", next)
			}
			do(t, ctx, "test and save it",
				chromedp.SendKeys(`#f-webhookUrl`, d.chat+"/workflows/morning/triggers/manual/paths/invoke?api-version=2016-06-01&sig=playground-morning"),
				chromedp.SendKeys(`#f-channelName`, "morning"),
				chromedp.Click(`button[value=test]`),
				visible(`.flash`),
				read(`.flash`, &tested),
				picture("report-tested"),
				chromedp.Submit(`#f-name`),
				visible(`//tr[.//a[text()="Every morning"]]`),
				read(`main`, &list),
				picture("reports-two"),
			)
			if !strings.Contains(tested, "202 Accepted") || !strings.Contains(list, "Next: ") || !strings.Contains(list, "Monday to Friday at 09:00") {
				t.Errorf("tested: %q; the list: %q", tested, list)
			}
			do(t, ctx, "view it",
				chromedp.Click(`//tr[.//a[text()="Every morning"]]/th//a[starts-with(text(), "View")]`),
				visible(`.chat-card`),
				read(`main`, &view),
				picture("report-view"),
				chromedp.Navigate(d.chat),
				visible(`article`),
				read(`main`, &chat),
				picture("report-in-chat"),
			)
			if !strings.Contains(view, "7 open pull requests, 5 inactive for 7 days or more") || !strings.Contains(view, "Replace the card hopper") {
				t.Errorf("the view: %q", view)
			}
			if !strings.Contains(chat, "morning") || !strings.Contains(chat, "Replace the card hopper") {
				t.Errorf("the chat: %q", chat)
			}
		})
	}
}
