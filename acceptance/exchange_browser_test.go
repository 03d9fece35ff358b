package acceptance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// shown waits until the page of the first delivery says something.
func (d demo) shown(t *testing.T, ctx context.Context, what string, page *string) {
	t.Helper()
	for until := time.Now().Add(stepsTime); ; {
		do(t, ctx, "look at the delivery", chromedp.Navigate(d.console+"/notifications/deliveries/1"), visible(`.delivery-state`), read(`main`, page))
		if strings.Contains(*page, what) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("the delivery's page does not come to say %q:\n%s", what, *page)
		}
	}
}

// TestDeliveryAsAnExchange: a message that a chat platform refuses is looked at,
// not withdrawn, tried again, copied as a command that a shell takes, and delivered,
// on wide and narrow screens.
func TestDeliveryAsAnExchange(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("exchange-%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			var page, question, command string
			fits := false
			do(t, ctx, "sign in", d.signIn()...)
			d.mode(t, "gone")
			do(t, ctx, "send an event that is refused",
				chromedp.Navigate(d.chat),
				chromedp.Click(`button[value="1"]`),
				visible(`p.refused`),
			)
			d.shown(t, ctx, "Attempt 1: 404 Not Found", &page)
			do(t, ctx, "see what came back",
				picture("refused"),
				evaluate(`document.documentElement.scrollWidth <= innerWidth`, &fits),
				evaluate(`document.querySelector("#curl-1").textContent`, &command),
			)
			for _, text := range []string{"Attempt 1: 404 Not Found", "WorkflowNotFound", "Content-Type", "Why the rule took it", "Next try"} {
				if !strings.Contains(page, text) {
					t.Errorf("the page does not say %q:\n%s", text, page)
				}
			}
			if strings.Contains(page, "playground-") || !fits {
				t.Errorf("the page is wider than the window, or shows a secret:\n%s", page)
			}
			do(t, ctx, "do not withdraw it",
				chromedp.Click(`a[data-confirm]`),
				visible(`dialog[open]`),
				read(`dialog`, &question),
				picture("question"),
				chromedp.Click(`dialog [data-cancel]`),
				chromedp.WaitNotPresent(`dialog`),
			)
			if !strings.Contains(question, "Do not send") || !strings.Contains(question, "Keep waiting") {
				t.Errorf("the question says:\n%s", question)
			}
			d.mode(t, "friendly")
			do(t, ctx, "try it now",
				chromedp.Submit(`form[action$="/try"] button`),
				visible(`.flash`),
			)
			d.shown(t, ctx, "took it", &page)
			do(t, ctx, "see what sends it again",
				settled,
				chromedp.Click(`.delivery-state summary`),
				visible(`.delivery-state .panel button`),
				picture("delivered"),
				evaluate(`document.documentElement.scrollWidth <= innerWidth`, &fits),
			)
			if !fits {
				t.Error("the page of what is delivered is wider than the window")
			}
			run := exec.CommandContext(t.Context(), "dash", "-c", command)
			run.Env = append(os.Environ(), "WEBHOOK_URL="+d.chat+"/workflows/my-team/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=playground-my-team")
			if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "202") {
				t.Errorf("the command: %v\n%s\n%s", err, command, out)
			}
		})
	}
}
