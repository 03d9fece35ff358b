package acceptance

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// seenWithin is how soon after a channel is broken its administrator sees it on the
// overview, which has been open all the time, beside what the machine takes for a page.
const seenWithin = 2 * time.Second

// brokenChannel reports whether the list of channels has a broken one.
func (d demo) brokenChannel(t *testing.T) bool {
	t.Helper()
	var list struct {
		Items []struct{ State string } `json:"items"`
	}
	text, err := os.ReadFile(download(t, d, "/rest/mtbs/1.0/configuration/channels"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list.Items, func(c struct{ State string }) bool { return c.State == "broken" })
}

// TestBrokenChannelIsSeenAtOnce: a channel dies; the open overview says so within
// 2 s of the list of channels, leads to where another webhook URL is entered, and has
// said before that messages wait.
func TestBrokenChannelIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	do(t, ctx, "open the overview", append(d.signIn(), visible(`.health.good`), look(t, "overview-good"))...)
	d.mode(t, "gone")
	d.send(t)
	do(t, ctx, "see that something waits, and no alarm", visible(`//p[@class="health good"]/a[contains(., ": the next try is in ")]`), look(t, "overview-waits"))
	waitFor(t, func() bool { return d.brokenChannel(t) })
	broken := time.Now()
	do(t, ctx, "see it", visible(`.attention li.bad`), visible(`.health.bad`))
	took, seen := time.Since(broken), time.Now()
	do(t, ctx, "see it once more", chromedp.Reload(), visible(`.attention li.bad`))
	machine := time.Since(seen) // takes so long to ask, to answer and to draw
	t.Logf("the overview says it %s after the list of channels; the same page again takes %s", took.Round(time.Millisecond), machine.Round(time.Millisecond))
	if took > seenWithin+machine {
		t.Error("that is too late")
	}
	d.mode(t, "friendly")
	do(t, ctx, "mend it",
		look(t, "overview-bad"),
		chromedp.Click(`.attention li.bad .button`),
		visible(`#f-webhookUrl`),
	)
}

// TestFirstStepsAreDismissed hides the first steps without JavaScript's help, and has
// them back.
func TestFirstStepsAreDismissed(t *testing.T) {
	t.Parallel()
	d := startFresh(t)
	for _, width := range []int{1280, 390} {
		ctx := browser(t, width)
		do(t, ctx, "hide the first steps", append(d.signIn(),
			visible(`.first-steps ol`),
			look(t, "first-steps"),
			chromedp.Click(`.first-steps button[value=hidden]`),
			visible(`.first-steps button[value=shown]`),
			chromedp.WaitNotPresent(`.first-steps ol`),
			chromedp.Reload(),
			visible(`.first-steps button[value=shown]`),
			chromedp.Click(`.first-steps button[value=shown]`),
			visible(`.first-steps ol`),
		)...)
	}
}
