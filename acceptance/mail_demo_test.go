package acceptance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMailInTheDemo sends mail through the demo's relay to a smarthost that
// takes it, and refuses it, and takes it again, and looks at the console's pages
// in between.
func TestMailInTheDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	mode := func(name string) {
		t.Helper()
		resp, err := http.PostForm(d.chat+"/mail/mode", url.Values{"mode": {name}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	var title, queues, messages, message, question string
	do(t, ctx, "send a message",
		chromedp.Navigate(d.chat),
		chromedp.Click(`header a[href="/mail/"]`),
		visible(`form[action="send"]`), // the page before has a button and a text like those of this one
		chromedp.Click(`button[value="1"]`),
		visible(`article[data-number="1"]`),
		read(`article[data-number="1"] h2`, &title),
		look(t, "smarthost"),
	)
	if !strings.Contains(title, "was assigned to you") {
		t.Errorf("the first message is %q", title)
	}
	mode("refuses")
	do(t, ctx, "have ten refused",
		chromedp.Navigate(d.chat+"/mail/"),
		chromedp.Click(`button[value="10"]`),
		visible(`//span[@class="said" and string-length(normalize-space()) > 0]`),
		look(t, "smarthost-refuses"),
		chromedp.Navigate(d.console+"/mail"),
		visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(`a[href*="/mail/resend?"]`),
		read(`main`, &queues),
		look(t, "mail-queues"),
	)
	if !strings.Contains(queues, "needs action") {
		t.Errorf("the queues are %q", queues)
	}
	do(t, ctx, "see why",
		chromedp.Navigate(d.console+"/mail/messages?state=error"),
		visible(`tbody tr:nth-child(10)`),
		read(`main`, &messages),
		look(t, "mail-errors"),
		chromedp.Click(`tbody tr:first-child th a`),
		visible(`.facts`),
		read(`main`, &message),
		look(t, "mail-message"),
	)
	for what, text := range map[string]string{"list": messages, "message": message} {
		if !strings.Contains(text, "550 5.1.1 There is nobody of that name here") {
			t.Errorf("the %s says %q", what, text)
		}
	}
	mode("accepts")
	do(t, ctx, "resend all",
		chromedp.Navigate(d.console+"/mail"),
		chromedp.Click(`a[href*="/mail/resend?"]`),
		visible(`dialog form[action$="/mail/resend"]`),
		read(`dialog`, &question),
		look(t, "mail-resend"),
		chromedp.Click(`dialog form button`),
		chromedp.WaitNotPresent(`a[href*="/mail/resend?"]`),
		chromedp.Navigate(d.chat+"/mail/"),
		visible(`article[data-number="11"]`),
	)
	if !strings.Contains(question, "Resend 10 messages?") {
		t.Errorf("before they are resent it asks %q", question)
	}
	var steps, away string
	do(t, ctx, "check the smarthost",
		chromedp.Navigate(d.console+"/mail"),
		chromedp.Click(`a[href="/mail/check"]`),
		visible(`#to`),
		fits(t, "mail-check"), look(t, "mail-check"),
		chromedp.SendKeys(`#to`, "ada@example.org"),
		chromedp.Submit(`#to`),
		visible(`tbody tr:last-child`),
		read(`main`, &steps),
		fits(t, "mail-check-steps"), look(t, "mail-check-steps"),
		chromedp.Navigate(d.chat+"/mail/"),
		visible(`article[data-number="12"]`),
	)
	mode("away")
	do(t, ctx, "check it while it is away",
		chromedp.Navigate(d.console+"/mail/check"),
		chromedp.Submit(`#to`),
		visible(`//td[contains(., "failed")]`),
		read(`main`, &away),
		look(t, "mail-check-away"),
	)
	for text, want := range map[string]string{
		steps: "The smarthost has taken the test message.", away: "The check failed at this step: greeting.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page says %q, not %s", text, want)
		}
	}
}
