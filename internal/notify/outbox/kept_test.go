package outbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Of what was refused, what was sent is kept, and the headers that help; of what was
// taken, nothing.
func TestWhatIsKeptOfAnExchange(t *testing.T) {
	run(t, func(w *world) {
		w.answers(429, "", "Retry-After", "60", "Set-Cookie", "session=secret", "X-Ms-Request-Id", "4711")
		w.add(0, "1", "2")
		w.expect(t, 0, "c0/1 at 0s")
		w.answers(202, "", "X-Ms-Request-Id", "4712")
		w.expect(t, 2*time.Minute, "c0/1 at 1m0s", "c0/2 at 1m0s")
		if got := w.queue.exchanges; len(got) != 3 || got[0] == nil || got[1] != nil || got[2] != nil {
			t.Fatalf("kept %v", got)
		}
		want := "{[{Retry-After 60} {X-Ms-Request-Id 4711}] /1 teams 0}"
		if got := fmt.Sprint(*w.queue.exchanges[0]); got != want {
			t.Errorf("kept %s, want %s", got, want)
		}
	})
}

// A digest names the first delivery that it was sent with.
func TestWhatIsKeptOfADigest(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 2
		w.answers(503, "")
		w.addMany(0, 1, 4)
		w.expect(t, 0, "c0/1/2/3/4 at 0s")
		if x := w.queue.exchanges[0]; x == nil || x.Batch != w.queue.deliveries[0].ID || x.Request != "/1/2/3/4" {
			t.Errorf("kept %+v", x)
		}
	})
}

func TestHeadersOfHostileAnswers(t *testing.T) {
	const url = "https://chat.example.com/services/T0123456789/B0123456789/abcdefghijklmnop?sig=0123456789abcdefghij"
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct{ name, value, want string }{
		{"Retry-After", "30", "30"},
		{"Content-Type", "text/html; charset=utf-8", "text/html; charset=utf-8"},
		{"Set-Cookie", "session=secret", ""},
		{"Cookie", "session=secret", ""},
		{"Authorization", "Bearer secret", ""},
		{"Proxy-Authenticate", "Basic", ""},
		{"X-Anything", "else", ""},
		{"Server", "", ""},
		{"Server", " \t ", ""},
		{"Server", "<script>alert(1)</script>", "<script>alert(1)</script>"},
		{"Server", "a\tb \x1b[31m\x00\x7f\r\nSet-Cookie: c", "a b \uFFFD[31m\uFFFD\uFFFD\uFFFD\uFFFDSet-Cookie: c"},
		{"Server", "\u202Egnp.exe\u2066 \xff\xfe ünï", "\uFFFDgnp.exe\uFFFD \uFFFD\uFFFD \uFFFDn\uFFFD"},
		{"Server", long, strings.Repeat("x", 256) + "…"},
		{"Server", strings.Repeat("é", 40<<10), strings.Repeat("\uFFFD", 85) + "…"},
		{"Server", "asked for " + url, "asked for ••••"},
		{"Server", "sig=0123456789abcdefghij", "••••"},
		{"Server", strings.Repeat("x", 250) + url + url, strings.Repeat("x", 250+len("••••https:")-len(url)) + "…"},
		{"Location", "https://other.example.com/services/secret?sig=secret", "https://other.example.com/…?…sig=••••"},
		{"Location", "https://user:secret@other.example.com/", "https://other.example.com"},
		{"Location", "/login?token=secret", "••••"},
		{"Location", "javascript:alert(1)", "••••"},
		{"Location", "https://\u202Eother.example.com/" + long, "https://\uFFFDother.example.com/…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := headersOf(http.Header{c.name: {c.value}}, secret.New(url))
			switch {
			case c.want == "" && len(got) != 0, c.want != "" && (len(got) != 1 || got[0] != notify.Header{Name: c.name, Value: c.want}):
				t.Errorf("%.80q gives %q, want %q", c.value, got, c.want)
			}
		})
	}
	many := http.Header{}
	for _, name := range keptHeaders {
		many[name] = slices.Repeat([]string{long}, 100)
		if name != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is not how net/http names it", name)
		}
	}
	size := 0
	for _, h := range headersOf(many, secret.New(url)) {
		size += len(h.Name) + len(h.Value) + len(": \n")
	}
	if size > 10<<10 {
		t.Errorf("%d bytes are kept", size)
	}
}

// Several values of a header are one line; what comes over a connection is what
// the table says of it.
func TestHeadersOverAConnection(t *testing.T) {
	chat := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		h := rw.Header()
		h["Via"] = []string{"1.1 one", "1.1 two"}
		h["Set-Cookie"] = []string{"a=secret", "b=secret"}
		h["X-Request-Id"] = []string{"<b>\u202E1</b>"}
		h["Date"], h["Content-Type"] = nil, nil
		rw.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer chat.Close()
	b := &Outbox{Options: Options{Client: toThisMachine(t), Clock: time.Now}}
	_, o := b.post(t.Context(), secret.New(chat.URL), []byte("{}"))
	if got, want := fmt.Sprint(o.headers), "[{Content-Length 0} {Via 1.1 one, 1.1 two} {X-Request-Id <b>\uFFFD1</b>}]"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// A message that is taken costs what it did: one outcome, one attempt.
func TestATakenMessageKeepsNothingMore(t *testing.T) {
	o := outcome{verdict: done, status: 202}
	channel := &notify.Channel{State: notify.Open, LastOKAt: time.Now()}
	m := &message{deliveries: []*queued{{Delivery: &notify.Delivery{ID: 1}}}}
	now := time.Now()
	if n := testing.AllocsPerRun(100, func() { settle(channel, m, o, now, nil) }); n > 2 {
		t.Errorf("settling it allocates %v times, want the result and its list", n)
	}
}
