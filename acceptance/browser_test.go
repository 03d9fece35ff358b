package acceptance

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// demo is a running `outrigger demo`.
type demo struct{ console, chat, password string }

var said = regexp.MustCompile(`console\s+(\S+)\s+sign in as admin with the password\s+(\S+)\s+chat\s+(\S+)`)

func startDemo(t *testing.T) demo {
	t.Helper()
	if notBuilding != nil {
		t.Fatal(notBuilding)
	}
	cmd := exec.CommandContext(t.Context(), binary, "demo", "--no-day", "--listen", "127.0.0.1:0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // outlives no test that crashed
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		if m := said.FindStringSubmatch(text.String()); m != nil {
			go func() {
				for lines.Scan() { // so that the demo can go on writing
				}
			}()
			t.Cleanup(func() { _ = cmd.Wait() })
			return demo{console: m[1], password: m[2], chat: m[3]}
		}
	}
	t.Fatalf("the demo did not say where it is:\n%s", text.String())
	return demo{}
}

// browser is a headless Chromium with a window of that width.
func browser(t *testing.T, width int, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := os.Getenv("TEST_CHROMIUM")
	if path == "" {
		t.Fatal("TEST_CHROMIUM names no Chromium: run make test")
	}
	options := append(more, chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Headless, chromedp.NoFirstRun,
		chromedp.WindowSize(width, 1000), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // a browser lives as long as what it was begun under
		t.Fatal(err)
	}
	return ctx
}

const (
	// stepsTime is how long the steps of one do may take; a page that never
	// shows what is waited for must not hold up everything.
	stepsTime = 90 * time.Second
	// pictureTime is how long a picture may take: Chromium never answers when
	// the page goes away meanwhile.
	pictureTime  = 5 * time.Second
	pictureTries = 4
)

type step = chromedp.Action[chromedp.Void]

// visible waits until an element is shown. It looks less often than chromedp does by
// itself: several browsers, and the programs that they show, share the processors.
func visible(selector string) step {
	return chromedp.WaitVisible(selector, chromedp.RetryInterval(50*time.Millisecond))
}

// look keeps a picture of the page in the folder TEST_SCREENSHOTS, where it
// is set, for people to look at.
func look(t *testing.T, name string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		png, err := picture(ctx, target)
		if err != nil {
			return none, err
		}
		if len(png) < 2000 {
			t.Errorf("the picture of %s is empty", name)
		}
		dir := os.Getenv("TEST_SCREENSHOTS")
		if dir == "" {
			return none, nil
		}
		return none, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
}

func picture(ctx context.Context, target *chromedp.Target) (png []byte, err error) {
	for range pictureTries {
		bounded, cancel := context.WithTimeout(ctx, pictureTime)
		png, err = chromedp.CaptureScreenshot()(bounded, target)
		cancel()
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return png, err
}

// read puts an element's text where into points.
func read(selector string, into *string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		*into, err = chromedp.Text(selector)(ctx, target)
		return none, err
	}
}

// settled waits until the page is loaded and painted. A click goes to a place on
// the screen, and until then what it is meant for may still move away from there.
// Where another page takes the place of this one meanwhile, it waits for that one.
func settled(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	for {
		_, err = chromedp.Evaluate[bool](`new Promise((done) => {
			const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
			if (document.readyState === "complete") painted();
			else addEventListener("load", painted, { once: true });
		})`, chromedp.EvalAwaitPromise)(ctx, target)
		if !isLeft(err) || ctx.Err() != nil {
			return none, err
		}
	}
}

// sendFile waits for the page with a migration's form, chooses a file in it, and waits
// for the page that follows once the file has arrived.
func sendFile(kind, file string) step {
	const next = `!window.sending && document.readyState === "complete" && document.querySelector("form[data-kind=%s] .badge.good") !== null`
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		if _, err := chromedp.WaitReady("#"+kind+"-file")(ctx, target); err != nil {
			return none, err
		}
		if _, err := settled(ctx, target); err != nil {
			return none, err
		}
		if _, err := chromedp.Evaluate[bool](`window.sending = true`)(ctx, target); err != nil {
			return none, err
		}
		if _, err := chromedp.SetUploadFiles("#"+kind+"-file", []string{file})(ctx, target); err != nil {
			return none, err
		}
		for arrived := false; !arrived; {
			if ctx.Err() != nil {
				return none, ctx.Err()
			}
			arrived, _ = chromedp.Evaluate[bool](fmt.Sprintf(next, kind))(ctx, target) // an error while the page is left
		}
		return settled(ctx, target)
	}
}

// previewed waits until the page says what is in the files of a migration: that
// moves what is below.
func previewed(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
	if _, err := visible(`.stage .verdict`)(ctx, target); err != nil {
		return none, err
	}
	return settled(ctx, target)
}

func do(t *testing.T, ctx context.Context, what string, steps ...step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, stepsTime)
	defer cancel()
	for i, s := range steps {
		steps[i] = onceMore(s)
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// onceMore takes a step again that has done nothing yet: its element was replaced
// between being found and being used, as live pages do, or the page that it asked
// for was not loaded because the one before was still being left.
func onceMore(s step) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for {
			_, err = s(ctx, target)
			if err == nil || !slices.ContainsFunc(notDone, func(words string) bool { return strings.Contains(err.Error(), words) }) || ctx.Err() != nil {
				return none, err
			}
		}
	}
}

// notDone is what Chromium says of an element that is no longer on the page, and
// of a page that another one took the place of.
var notDone = []string{
	"No node with given id found",
	"Could not find node with given id",
	"Node is detached from document",
	"Could not compute content quads.",
	"net::ERR_ABORTED",
}

// TestTour is the README's first two minutes in a browser: sign in, press the
// button, see the card, see why it was sent.
func TestTour(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	var cards, body string
	var lines float64
	do(t, ctx, "sign in",
		chromedp.Navigate(d.console),
		visible(`input[name=password]`),
		look(t, "sign-in"),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(`.cards`),
		look(t, "overview"),
	)
	do(t, ctx, "send an event",
		chromedp.Navigate(d.chat),
		visible(`.empty`),
		chromedp.Click(`button[value="10"]`),
		visible(`article[data-number="8"]`),
		read(`main`, &cards), // of two channels, which do not wait for each other
		look(t, "chat"),
	)
	if !strings.Contains(cards, "created branch") {
		t.Errorf("no card tells of the branch:\n%s", cards)
	}
	do(t, ctx, "see the deliveries",
		chromedp.Navigate(d.console+"/notifications/deliveries"),
		visible(`.badge.good`),
		look(t, "deliveries"),
		chromedp.Click(`tbody tr:last-child th a`),
		visible(`.facts`),
		read(`main`, &body),
		look(t, "delivery"),
	)
	if !strings.Contains(body, "202") || !strings.Contains(body, "delivered") || strings.Contains(body, "sig=playground") {
		t.Errorf("the delivery's page says %q", body)
	}
	resp, err := http.PostForm(d.chat+"/mode", url.Values{"mode": {"off"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	do(t, ctx, "see what a broken channel looks like",
		chromedp.Navigate(d.chat),
		chromedp.Click(`button[value="10"]`),
		visible(`p.refused`),
		chromedp.Navigate(d.console),
		visible(`.attention li`),
		look(t, "console"),
	)
	do(t, ctx, "see the rules",
		chromedp.Navigate(d.console+"/notifications/rules"),
		visible(`tbody .state .badge.bad`),
		evaluate(`Math.max(...[...document.querySelectorAll(".list tbody tr")].map((row) => row.getBoundingClientRect().height)) / 37`, &lines),
		look(t, "rules"),
	)
	if lines > 1 {
		t.Errorf("a rule whose channel is broken has %.1f lines in the list", lines)
	}
}

// TestRuleByForm makes a rule by the console's form, is refused, mends what
// is wrong and deletes it again.
func TestRuleByForm(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 390)
	var problems, misfit, said, rows, focused string
	do(t, ctx, "sign in",
		chromedp.Navigate(d.console+"/notifications/rules/new?level=project"),
		visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(`input[name=projectKey]`),
	)
	do(t, ctx, "be refused",
		chromedp.SendKeys(`input[name=name]`, "Moths"),
		chromedp.SendKeys(`input[name=projectKey]`, "ATL"),
		chromedp.SendKeys(`input[name=webhookUrl]`, "http://10.1.2.3/invoke?sig=abc"),
		chromedp.Submit(`input[name=name]`),
		visible(`.field.refused`),
		read(`main`, &problems),
		evaluate(misfits, &misfit),
		evaluate(`document.activeElement.id`, &focused),
		look(t, "rule-refused"),
	)
	if focused != "f-eventTypes" {
		t.Errorf("after the refusal the focus is at %q, not at the first field that is wrong", focused)
	}
	if misfit != "" {
		t.Errorf("refused: %s", misfit)
	}
	if !strings.Contains(problems, "event type") || !strings.Contains(problems, "10.1.2.3") {
		t.Errorf("the refusal says %q", problems)
	}
	var shown string // the webhook URL that the page of the chat shows
	do(t, ctx, "copy a webhook URL",
		chromedp.Navigate(d.chat+"/"),
		visible(`input.webhook`),
		evaluate(`document.querySelector("input.webhook").value`, &shown),
		look(t, "chat-webhook"),
		chromedp.Navigate(d.console+"/notifications/rules/new?level=project"),
		visible(`input[name=projectKey]`),
		chromedp.SendKeys(`input[name=name]`, "Moths"),
		chromedp.SendKeys(`input[name=projectKey]`, "ATL"),
	)
	var place string
	do(t, ctx, "try the masks",
		evaluate(`document.querySelector("textarea[name=names]").closest("details").open = true, ""`, &place),
		chromedp.SendKeys(`input[name=branchMask]`, "release/.*"),
		chromedp.SendKeys(`textarea[name=names]`, "release/1"),
		chromedp.Click(`button[value=masks]`),
		visible(`div[role=status] table`),
		evaluate(`(b => b.top >= 0 && b.bottom <= innerHeight ? "in sight" : "at " + b.top)(document.querySelector("div[role=status] table").getBoundingClientRect())`, &place),
		look(t, "rule-masks"),
	)
	if place != "in sight" {
		t.Errorf("the answer of the masks is %s", place)
	}
	d.mode(t, "off")
	do(t, ctx, "test it on a channel that refuses with a long word",
		chromedp.EmulateViewport(390, 1000), // the window itself may be no narrower than 500
		chromedp.Click(`input[value="TAG_CREATED"]`),
		chromedp.SetValue(`input[name=webhookUrl]`, d.chat+"/workflows/moths/triggers/manual/paths/invoke?sig=playground-moths"),
		chromedp.Click(`button[value=test]`),
		visible(`.flash.bad`),
		read(`.flash`, &said),
		evaluate(misfits, &misfit),
	)
	if !strings.Contains(said, "400 Bad Request") || misfit != "" {
		t.Errorf("tested: %q\n%s", said, misfit)
	}
	do(t, ctx, "save it",
		chromedp.SetValue(`input[name=webhookUrl]`, shown),
		chromedp.Submit(`input[name=name]`),
		visible(`tbody tr`),
		read(`tbody`, &rows),
		look(t, "rules-narrow"),
	)
	if !strings.Contains(rows, "Moths") {
		t.Errorf("the rules are %q", rows)
	}
	do(t, ctx, "delete it",
		chromedp.Click(`//tr[.//a[text()="Moths"]]//summary`),
		visible(`//tr[.//a[text()="Moths"]]//a[text()="Delete"]`),
		chromedp.Click(`//tr[.//a[text()="Moths"]]//a[text()="Delete"]`),
		visible(`button.danger`),
		look(t, "rule-delete"),
		chromedp.Click(`button.danger`),
		chromedp.WaitNotPresent(`//a[text()="Moths"]`),
	)
}
