package acceptance

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"outrigger/internal/playground"
	"outrigger/internal/playground/samples"
)

// toFirstMessage is how long the way to the first message may take by itself: a
// person shall need less than two minutes for it.
const toFirstMessage = time.Minute

var readyAt = regexp.MustCompile(`"msg":"ready","url":"([^"]+)"`)

// startFresh starts a server with nothing but a folder, which may send to this
// machine, and gives its address and the first administrator's password.
func startFresh(t *testing.T) demo { return startFreshAt(t, "127.0.0.1:0", "") }

// startFreshAt listens at an address; base is its base_url, "" for none, and env has
// more settings.
func startFreshAt(t *testing.T, listen, base string, env ...string) demo {
	t.Helper()
	if notBuilding != nil {
		t.Fatal(notBuilding)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "outrigger.yaml")
	text := fmt.Sprintf("listen: %s\ndata_dir: %s\nmail: {listen: 127.0.0.1:0}\nnotify: {allowed_networks: [127.0.0.1]}\n", listen, filepath.Join(dir, "data"))
	if base != "" {
		text += "base_url: " + base + "\n"
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--config", config)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // outlives no test that crashed
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := readyAt.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // so that the server can go on writing
				}
			}()
			t.Cleanup(func() { _ = cmd.Wait() })
			password, err := os.ReadFile(filepath.Join(dir, "data", "initial-password"))
			if err != nil {
				t.Fatal(err)
			}
			return demo{console: m[1], password: strings.TrimSpace(string(password))}
		}
	}
	t.Fatal("the server did not say where it is")
	return demo{}
}

// TestFreshServerToFirstMessage goes the way that the overview of a fresh server
// shows, then has a message fail and sends it again, and rotates the secret of the
// webhook.
func TestFreshServerToFirstMessage(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("fresh-%s-%d", name, width)) }
			chat := playground.NewChat(time.Now)
			var refuses atomic.Bool // one message, not the channel
			room := http.NewServeMux()
			room.HandleFunc("POST /workflows/{channel}/triggers/manual/paths/invoke", func(w http.ResponseWriter, r *http.Request) {
				if refuses.Load() {
					http.Error(w, `{"error":{"code":"TriggerInputSchemaMismatch","message":"The input body does not match its schema."}}`, http.StatusBadRequest)
					return
				}
				chat.Webhook(w, r)
			})
			server := httptest.NewServer(room)
			t.Cleanup(server.Close)
			begun := time.Now()
			d := startFresh(t)
			ctx := browser(t, width)

			var url, secret string
			do(t, ctx, "connect the platform", append(d.signIn(),
				picture("overview"),
				chromedp.Click(`//a[starts-with(text(), "Connect your code-hosting platform")]`),
				visible(`#f-name`),
				chromedp.SendKeys(`#f-name`, "code"),
				chromedp.SendKeys(`#f-baseUrl`, samples.BaseURL),
				chromedp.Submit(`#f-name`),
				read(`//dt[text()="URL"]/following-sibling::dd[1]//code`, &url),
				read(`//dt[text()="Secret"]/following-sibling::dd[1]//code`, &secret),
				picture("secret"),
			)...)
			platform := &playground.Platform{HookURL: url, Secret: secret, Clock: time.Now}
			posts := func(seq int64, want int) {
				t.Helper()
				if status, err := platform.Post(t.Context(), samples.Samples()[0], seq); err != nil || status != want {
					t.Fatalf("the webhook was answered %d, %v; want %d", status, err, want)
				}
			}
			do(t, ctx, "make a rule, tested before it is saved",
				chromedp.Navigate(d.console),
				chromedp.Click(`//a[starts-with(text(), "Add a rule")]`),
				visible(`#rule`),
				chromedp.SendKeys(`#f-name`, "Everything of branches"),
				chromedp.Click(`input[value="all of Branches and tags"]`),
				chromedp.SendKeys(`#f-webhookUrl`, server.URL+playground.WebhookPath("first")),
				chromedp.SendKeys(`#f-channelName`, "first"),
				chromedp.Click(`button[value=test]`),
				visible(`.flash.good`),
				picture("rule-tested"),
				chromedp.Submit(`#f-name`),
				visible(`//a[text()="Everything of branches"]`),
				picture("rules"),
			)
			posts(1, http.StatusAccepted)
			waitFor(t, func() bool { return len(chat.Messages("first")) == 2 })
			if took := time.Since(begun); took > toFirstMessage {
				t.Errorf("the first message took %s", took)
			} else {
				t.Logf("the first message came %s after the start of the server", took.Round(time.Millisecond))
			}

			refuses.Store(true)
			posts(2, http.StatusAccepted)
			var failed string
			do(t, ctx, "see the message that failed",
				awaits(d.console+"/notifications/deliveries?state=failed", `tbody th a`),
				picture("failed"),
				chromedp.Click(`tbody th a`),
				visible(`.badge.bad`),
				read(`main`, &failed),
				picture("failed-delivery"),
			)
			if !strings.Contains(failed, "TriggerInputSchemaMismatch: The input body does not match its schema.") {
				t.Errorf("the page does not say why it failed:\n%s", failed)
			}
			refuses.Store(false)
			do(t, ctx, "send it again",
				chromedp.Submit(`form[action$="/redeliver"] button`),
				visible(`.flash.good`),
				picture("redelivered"),
			)
			waitFor(t, func() bool { return len(chat.Messages("first")) == 3 })

			rotate := func(name string) []step {
				return []step{
					chromedp.Navigate(d.console + "/notifications/connections/code"),
					chromedp.Click(`//td/a[starts-with(text(), "Rotate")]`),
					visible(`button.danger`),
					picture(name + "-asked"),
					chromedp.Click(`//button[text()="Make a new secret"]`),
					read(`//dt[text()="Secret"]/following-sibling::dd[1]//code`, &secret),
					picture(name),
				}
			}
			first := secret
			do(t, ctx, "rotate the secret", append(rotate("rotated"),
				chromedp.Click(`//a[text()="Done"]`),
				visible(`//span[starts-with(text(), "the old one is valid until")]`),
				picture("rotated-connection"),
			)...)
			posts(3, http.StatusAccepted) // by the old one
			platform.Secret = secret
			posts(4, http.StatusAccepted)
			do(t, ctx, "rotate it again", rotate("rotated-again")...)
			posts(5, http.StatusAccepted) // by the one before
			platform.Secret = first
			posts(6, http.StatusUnauthorized)
		})
	}
}

// awaits opens a page, again where what is waited for is not there yet. Each time
// the page has twice as long: on a busy machine a page takes more than the first
// second.
func awaits(url, selector string) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for wait := time.Second; ; wait *= 2 {
			if _, err := chromedp.Navigate(url)(ctx, target); err != nil {
				return none, err
			}
			short, cancel := context.WithTimeout(ctx, wait)
			_, err := visible(selector)(short, target)
			cancel()
			if err == nil || ctx.Err() != nil {
				return none, err
			}
		}
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for until := time.Now().Add(startTime); !so(); {
		if time.Now().After(until) {
			t.Fatal("it did not come")
		}
		pass(t, 100*time.Millisecond)
	}
}
