package app

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hostileChat answers each message with what no honest chat platform does, and
// keeps the bodies that came.
type hostileChat struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	taken  []string
}

func newHostileChat(t *testing.T) *hostileChat {
	c := &hostileChat{status: http.StatusServiceUnavailable}
	c.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.taken = append(c.taken, string(body))
		h := rw.Header()
		h["Set-Cookie"] = []string{"session=cookie-secret; HttpOnly"}
		h["Server"] = []string{"<script>alert(1)</script>\u202E"}
		h["X-Request-Id"] = []string{"id " + r.URL.String()}
		h["X-Ms-Request-Id"] = []string{strings.Repeat("é", 25<<10)}
		h["Retry-After"] = []string{"3600"}
		rw.WriteHeader(c.status)
		_, _ = fmt.Fprint(rw, "<img src=x onerror=alert(1)>\x00\x1b[31m\u202Egnp.exe\u2066 asked for ", r.URL.String(), strings.Repeat(" more", 10_000))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *hostileChat) rule(t *testing.T, a *App, name, sig string) {
	t.Helper()
	rule := fmt.Sprintf(`{"name":%q,"eventTypes":["BRANCH_UPDATED"],"webhookUrl":%q}`, name, c.URL+"/invoke?sig="+sig)
	if status, v := postJSON(t, a, mtbs+"/filter", "admin", rule); status != http.StatusCreated {
		t.Fatalf("%d %v", status, v)
	}
}

func (c *hostileChat) posts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.taken)
}

func (c *hostileChat) answers(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

type exchanged struct {
	State       string
	AttemptList []struct {
		Status          int
		Answer          string
		Headers         map[string]string
		AnswerWithheld  bool
		Request         string
		RequestWithheld bool
	}
}

func deliveryAs(t *testing.T, a *App, user string, id int) (d exchanged) {
	t.Helper()
	status, body := get(t, fmt.Sprintf("%s%s/deliveries/%d", a.URL(), mtbs, id), func(r *http.Request) { r.SetBasicAuth(user, password) })
	if err := json.Unmarshal([]byte(body), &d); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", user, status, body)
	}
	return d
}

// A delivery is shown as an exchange: what came back and what was sent, whatever a
// server answers, in REST and on its page; what was sent can be sent again by the
// command that the page gives.
func TestDeliveryIsAnExchange(t *testing.T) {
	a, chat := startWithChat(t), newHostileChat(t)
	const secretPart = "signature-0123456789abcdef"
	chat.rule(t, a, "it's a rule", secretPart)
	pushed(t, a, "it's-\u00fc\u2603")
	eventually(t, func() bool { return len(deliveryAs(t, a, "admin", 1).AttemptList) == 1 })
	pushed(t, a, "second")
	pushed(t, a, "third")
	tried := func() {
		t.Helper()
		if status, body := consolePage(t, a, "/notifications/deliveries/1/try", url.Values{}); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, body)
		}
	}
	eventually(t, func() bool { // when it is set aside, a try asks with the next one
		posted := len(chat.posts())
		tried()
		eventually(t, func() bool { return len(chat.posts()) > posted })
		return len(deliveryAs(t, a, "admin", 1).AttemptList) >= 3
	})

	d := deliveryAs(t, a, "admin", 1)
	last := len(d.AttemptList) - 1
	for i, at := range d.AttemptList {
		if kept := at.Request != ""; kept != (i == 0 || i == last) {
			t.Errorf("attempt %d keeps what was sent: %v", i+1, kept)
		}
		if at.Headers["Server"] != "<script>alert(1)</script>\uFFFD" || at.Headers["Retry-After"] != "3600" || at.Headers["Set-Cookie"] != "" || len(at.Headers["X-Ms-Request-Id"]) > 300 {
			t.Errorf("attempt %d has the headers %.400q", i+1, at.Headers)
		}
		if !strings.Contains(at.Answer, "<img src=x") || strings.ContainsAny(at.Answer, "\x00\x1b\u202E\u2066") {
			t.Errorf("attempt %d has the answer %.200q", i+1, at.Answer)
		}
	}
	sent := d.AttemptList[0].Request
	if posts := chat.posts(); sent != posts[0] {
		t.Errorf("kept %q, sent %q", sent, posts[0])
	}

	_, page := consolePage(t, a, "/notifications/deliveries/1", nil)
	wants(t, "the page", page, "Ada Lovelace pushed to it&#39;s-ü☃ in ATL/canoe", "Attempt 1: 503 Service Unavailable", "<dt>Retry-After</dt>",
		">Try now</button>", ">Do not send</a>", "Why the rule took it", "Branch updated (push)", "Copy as curl", "&#34;$WEBHOOK_URL&#34;", "The message as it would be sent now")
	for _, never := range []string{secretPart, "cookie-secret", "<script>alert", "<img src=x", "\u202E", "\x1b"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
		if _, body := get(t, a.URL()+mtbs+"/deliveries/1", asAdmin); strings.Contains(body, never) && !strings.HasPrefix(never, "<") {
			t.Errorf("REST has %q", never)
		}
	}

	// What scrolls is reached by the keyboard, and has a name.
	named := regexp.MustCompile(`<pre [^>]*tabindex="0" role="group" aria-label="[^"]+"`).FindAllString(page, -1)
	if all := strings.Count(page, "<pre"); all == 0 || len(named) != all {
		t.Errorf("of %d texts that scroll, %d are reached", all, len(named))
	}

	// The command of the page posts what was posted, byte for byte.
	before := len(chat.posts())
	command := html.UnescapeString(regexp.MustCompile(`(?s)<pre id="curl-1"[^>]*>(.*?)</pre>`).FindStringSubmatch(page)[1])
	for _, shell := range []string{"dash", "bash"} {
		cmd := exec.CommandContext(t.Context(), shell, "-c", command)
		cmd.Env = append(cmd.Environ(), "WEBHOOK_URL="+chat.URL+"/by-hand?a=b&c=d%20e")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", shell, err, out)
		}
	}
	for _, again := range chat.posts()[before:] {
		if again != sent {
			t.Errorf("the command sends %q, want %q", again, sent)
		}
	}
	if n := len(chat.posts()) - before; n != 2 {
		t.Errorf("the commands posted %d times", n)
	}

	// It is delivered, and the action is in a menu.
	chat.answers(http.StatusOK)
	tried()
	eventually(t, func() bool { return deliveryAs(t, a, "admin", 1).State == "delivered" })
	_, page = consolePage(t, a, "/notifications/deliveries/1", nil)
	wants(t, "the page of what is delivered", page, "accepted it", `<button type="submit" class="plain">Send again</button>`, "rebuilt from the event", "200 OK")
	if strings.Contains(page, ">Try now<") || strings.Contains(page, `class="main">Send again`) {
		t.Error("the main action of what is delivered sends it again")
	}
}

// Two people act on a delivery at once: one does it, and the other is told how it
// stands.
func TestTwoActOnADelivery(t *testing.T) {
	a, chat := startWithChat(t), newHostileChat(t)
	chat.rule(t, a, "rule", "x")
	for i := range 3 {
		pushed(t, a, fmt.Sprint("branch-", i))
	}
	eventually(t, func() bool { return len(deliveryAs(t, a, "admin", 1).AttemptList) == 1 })
	_, question := consolePage(t, a, "/notifications/deliveries/3/cancel", nil)
	wants(t, "the question", question, "Do not send this message?", ">Do not send</button>", ">Keep waiting</a>", "Ada Lovelace pushed to branch-2")
	for _, step := range []struct{ act, state string }{{"cancel", "cancelled"}, {"redeliver", "waiting"}} {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if status, body := consolePage(t, a, "/notifications/deliveries/3/"+step.act, url.Values{}); status != http.StatusSeeOther {
					t.Errorf("%s: %d %s", step.act, status, body)
				}
			})
		}
		both.Wait()
		if d := deliveryAs(t, a, "admin", 3); d.State != step.state {
			t.Errorf("after %s it is %s", step.act, d.State)
		}
		_, trail := get(t, a.URL()+mtbs+"/audit", asAdmin)
		if n := strings.Count(trail, `"action":"`+step.act+`"`); n != 1 {
			t.Errorf("%s is %d entries of the audit trail", step.act, n)
		}
	}
	_, page := consolePage(t, a, "/notifications/deliveries/3", nil)
	wants(t, "its page", page, "Put back into the queue", ">Try now</button>")
}
