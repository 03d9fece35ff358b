package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// workflow is a webhook URL of the demo's chat platform.
func (d demo) workflow(name string) string {
	return d.chat + "/workflows/" + name + "/triggers/manual/paths/invoke?api-version=2016-06-01&sig=playground-" + name
}

type demoChannel struct {
	ID          int64
	Name, State string
	Waiting     int
}

// channel returns the channel of a name.
func (d demo) channel(t *testing.T, name string) demoChannel {
	t.Helper()
	var list struct{ Items []demoChannel }
	text, err := os.ReadFile(download(t, d, "/rest/mtbs/1.0/configuration/channels"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no channel %q in %s", name, text)
	return demoChannel{}
}

// inTheDark takes a picture of the page in dark colours, and leaves it in light ones.
func inTheDark(t *testing.T, name string) []step {
	var done string
	return []step{
		evaluate(`localStorage.setItem("outrigger-theme", "dark"), ""`, &done), chromedp.Reload(), visible(`main h1`), look(t, name),
		evaluate(`localStorage.removeItem("outrigger-theme"), ""`, &done), chromedp.Reload(), visible(`main h1`),
	}
}

// A workflow is gone: its channel's page says so and leads to what helps. Two people
// enter a new webhook URL; one of them is told who was first. What waited goes out, and
// a new rule chooses the channel.
func TestChannelGetsAnotherURL(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			d := startDemo(t)
			ctx := browser(t, width)
			do(t, ctx, "sign in", append([]step{chromedp.EmulateViewport(int64(width), 1000)}, d.signIn()...)...)
			d.mode(t, "gone")
			d.send(t)
			waitFor(t, func() bool { return d.channel(t, "reviews").State == "broken" })
			channel := d.channel(t, "reviews")
			replaceChannelURL(t, ctx, d, &channel, width)
			waitFor(t, func() bool { c := d.channel(t, "reviews"); return c.State == "open" && c.Waiting == 0 })
			chooseChannel(t, ctx, d, &channel, width)
		})
	}
}

func replaceChannelURL(t *testing.T, ctx context.Context, d demo, channel *demoChannel, width int) {
	t.Helper()
	picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
	var state, misfit, refused, late string
	page := fmt.Sprintf("%s/notifications/channels/%d", d.console, channel.ID)
	do(t, ctx, "see that it is broken", append([]step{
		chromedp.Navigate(d.console + "/notifications/channels"), visible(`.badge.bad`),
		chromedp.Click(`//tr//a[text()="reviews"]`), visible(`.delivery-state.bad`),
		read(`.delivery-state`, &state), evaluate(misfits, &misfit), picture("channel-broken"),
	}, inTheDark(t, fmt.Sprintf("channel-broken-dark-%d", width))...)...)
	if !strings.Contains(state, "WorkflowNotFound") || !strings.Contains(state, "wait") || misfit != "" {
		t.Errorf("the state of the channel: %q\n%s", state, misfit)
	}
	do(t, ctx, "enter a URL that is gone as well",
		chromedp.Click(`.delivery-state a.main`), visible(`#f-webhookUrl`), picture("channel-replace"),
		chromedp.SendKeys(`#f-webhookUrl`, d.workflow("gone-too")), chromedp.Click(`form button.main`), visible(`.refused`),
		read(`main`, &refused), evaluate(misfits, &misfit), picture("channel-replace-refused"),
	)
	if !strings.Contains(refused, "404 Not Found") || misfit != "" {
		t.Errorf("a test that is refused: %q\n%s", refused, misfit)
	}
	d.mode(t, "friendly")
	d.replaceURL(t, channel.ID, d.workflow("first"))
	do(t, ctx, "be late",
		chromedp.SetValue(`#f-webhookUrl`, d.workflow("late")), chromedp.Click(`form button.main`), visible(`//div[@class="problem"][contains(., "admin")]`),
		read(`.problem`, &late), picture("channel-replace-late"),
	)
	if !strings.Contains(late, "admin") {
		t.Errorf("who is late is told %q", late)
	}
	do(t, ctx, "enter one that works",
		chromedp.Navigate(page+"/replace"), visible(`#f-webhookUrl`),
		chromedp.SendKeys(`#f-webhookUrl`, d.workflow("reviewers")), chromedp.Click(`form button.main`),
		visible(`.flash.good`), visible(`.delivery-state`), picture("channel-replaced"),
	)
}

// replaceURL gives a channel another webhook URL, without a test.
func (d demo) replaceURL(t *testing.T, channel int64, url string) {
	t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"webhookUrl":%q}`, url))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("%s/rest/mtbs/1.0/configuration/channels/%d", d.console, channel), body)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", d.password)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
}

func chooseChannel(t *testing.T, ctx context.Context, d demo, channel *demoChannel, width int) {
	t.Helper()
	var chat, form, page, misfit, named string
	id := fmt.Sprint(channel.ID)
	do(t, ctx, "see what waited in the chat", chromedp.Navigate(d.chat), visible(`article`), read(`main`, &chat))
	if !strings.Contains(chat, "first") || strings.Contains(chat, "gone-too") {
		t.Errorf("the chat: %q", chat)
	}
	do(t, ctx, "choose the channel for a rule",
		chromedp.Navigate(d.console+"/notifications/rules/new"), visible(`#f-name`),
		chromedp.SendKeys(`#f-name`, "Merged anywhere"),
		chromedp.Click(`input[value="PULL_REQUEST_MERGED"]`),
		chromedp.Focus(`#f-channel`), chromedp.KeyEvent("rev"), visible(`#f-channel-found [role=option]`), look(t, fmt.Sprintf("rule-channels-%d", width)),
		chromedp.KeyEvent(kb.ArrowDown+kb.Enter),
		evaluate(`document.getElementById("f-channel").value`, &named),
		evaluate(misfits, &form), look(t, fmt.Sprintf("rule-of-channel-%d", width)),
		chromedp.Submit(`#f-name`), visible(`//tr//a[text()="Merged anywhere"]`),
	)
	if named != "reviews #"+id {
		t.Errorf("the channel that was chosen is %q", named)
	}
	do(t, ctx, "see it on the channel's page", append([]step{
		chromedp.Navigate(d.console + "/notifications/channels/" + id), visible(`.delivery-state.good`), visible(`.plot`),
		read(`main`, &page), evaluate(misfits, &misfit), look(t, fmt.Sprintf("channel-good-%d", width)),
	}, inTheDark(t, fmt.Sprintf("channel-good-dark-%d", width))...)...)
	if !strings.Contains(page, "Merged anywhere") || !strings.Contains(page, "Pull requests of every project") || form+misfit != "" {
		t.Errorf("the channel's page: %q\n%s\n%s", page, form, misfit)
	}
}
