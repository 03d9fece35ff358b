package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// mode has the demo's chat platform answer otherwise from now on.
func (d demo) mode(t *testing.T, mode string) {
	t.Helper()
	resp, err := http.PostForm(d.chat+"/mode", url.Values{"mode": {mode}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func (d demo) signIn() []step {
	return []step{
		chromedp.Navigate(d.console),
		visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(`.cards`),
	}
}

// TestChannelIsTriedAgain: a workflow is gone, its messages wait and the
// console says why; it is there again, and an administrator need not wait for
// the next try. Then one message is delivered once more.
func TestChannelIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			var channels, page, chat, at string
			do(t, ctx, "sign in", d.signIn()...)
			d.mode(t, "gone")
			do(t, ctx, "send events that are refused",
				chromedp.Navigate(d.chat),
				chromedp.Click(`button[value="10"]`),
				visible(`p.refused`),
			)
			do(t, ctx, "see the channel",
				chromedp.Navigate(d.console+"/notifications/channels"),
				visible(`.badge.warn, .badge.bad`),
				read(`main`, &channels),
				picture("channels"),
				chromedp.Click(`//tr[.//a[text()="Try again" or text()="Replace URL"]]/th/a`),
				visible(`#retry`),
				picture("channel-in-trouble"),
			)
			if !strings.Contains(channels, "WorkflowNotFound") {
				t.Errorf("the channels' page does not say why:\n%s", channels)
			}
			d.mode(t, "friendly")
			do(t, ctx, "try it again",
				chromedp.Submit(`input[name=which]`),
				visible(`.flash.good`),
				chromedp.Navigate(d.chat),
				visible(`article`),
				chromedp.Navigate(d.console+"/notifications/channels"),
				visible(`.badge.good`),
				picture("channel-open"),
			)
			do(t, ctx, "redeliver what was delivered",
				chromedp.Navigate(d.console+"/notifications/deliveries?state=delivered"),
				visible(`.badge.good`),
				picture("deliveries-delivered"),
				chromedp.Click(`tbody tr:last-child th a`),
				visible(`.chat-card`),
				picture("delivery-card"),
				evaluate(`location.href`, &at),
				settled,
				chromedp.Click(`.delivery-state summary`),
				chromedp.Click(`form[action$="/redeliver"] button`),
				visible(`.flash.good`),
				picture("delivery-redelivered"),
			)
			for until := time.Now().Add(stepsTime); !strings.Contains(page, "Queued again") || strings.Count(page, "202 Accepted") < 2; {
				if time.Now().After(until) {
					t.Fatalf("it was not delivered twice; its page says:\n%s", page)
				}
				do(t, ctx, "see that it was delivered twice",
					chromedp.Navigate(at),
					visible(`.chat-card`),
					read(`main`, &page),
					picture("delivery-twice"),
				)
			}
			do(t, ctx, "see it in the chat", chromedp.Navigate(d.chat), visible(`article`), read(`main`, &chat), picture("chat-redelivered"))
		})
	}
}
