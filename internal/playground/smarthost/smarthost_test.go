package smarthost

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"net/url"
	"strings"
	"testing"

	gosmtp "github.com/emersion/go-smtp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o Options) (*Host, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := New(o)
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	t.Cleanup(func() {
		h.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return h, l.Addr().String()
}

const text = "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\n.\r\n..dots\r\n"

func send(addr string, auth smtp.Auth) error {
	return smtp.SendMail(addr, auth, "a@example.com", []string{"b@example.com", "c@example.com"}, []byte(text))
}

func TestItTakesMessages(t *testing.T) {
	h, addr := start(t, Options{})
	changed := h.Change()
	if err := send(addr, nil); err != nil {
		t.Fatal(err)
	}
	<-changed
	m := h.Messages()
	if len(m) != 1 || m[0].From != "a@example.com" || strings.Join(m[0].To, " ") != "b@example.com c@example.com" || string(m[0].Data) != text || m[0].Number != 1 {
		t.Errorf("it has %+v", m)
	}
}

// Another client, which sends by BDAT too.
func TestChunks(t *testing.T) {
	h, addr := start(t, Options{})
	c, err := gosmtp.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if ok, _ := c.Extension("CHUNKING"); !ok {
		t.Error("CHUNKING is not offered")
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "EHLO x\r\nMAIL FROM:<a@b> BODY=8BITMIME\r\nRCPT TO:<c@d>\r\nBDAT 3\r\na\r\nBDAT 1 LAST\r\nbQUIT\r\n")
	if answers, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answers), "250 2.0.0 Taken\r\n221 2.0.0 Bye\r\n") {
		t.Fatalf("it answers %q, %v", answers, err)
	}
	if m := h.Messages(); len(m) != 1 || string(m[0].Data) != "a\r\nb" || m[0].Params != "BODY=8BITMIME" {
		t.Errorf("it has %+v", m)
	}
}

func TestFaultModes(t *testing.T) {
	h, addr := start(t, Options{})
	for mode, want := range map[FaultMode]string{
		Defers: "451 4.7.1", Refuses: "550 5.1.1", Away: "EOF", Busy: "421 4.7.0", Locked: "530 5.7.0",
	} {
		h.SetFaultMode(mode)
		if err := send(addr, nil); err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), `"`, ""), want) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	h.SetFaultMode("no such mode")
	if h.FaultMode() == "no such mode" {
		t.Error("it has a mode that there is not")
	}
	h.SetFaultMode(Accepts)
	if err := send(addr, nil); err != nil || h.Count() != 1 {
		t.Errorf("it took %d: %v", h.Count(), err)
	}
}

func TestPassword(t *testing.T) {
	h, addr := start(t, Options{User: "ann", Password: "right"})
	if err := send(addr, nil); err == nil || !strings.HasPrefix(err.Error(), "530") {
		t.Errorf("without: %v", err)
	}
	host, _, _ := net.SplitHostPort(addr)
	if err := send(addr, smtp.PlainAuth("", "ann", "wrong", host)); err == nil || !strings.HasPrefix(err.Error(), "535") {
		t.Errorf("with the wrong one: %v", err)
	}
	if err := send(addr, smtp.PlainAuth("", "ann", "right", host)); err != nil || h.Messages()[0].User != "ann" {
		t.Errorf("with the right one: %v", err)
	}
}

func TestItKeepsTheLastOnes(t *testing.T) {
	h, addr := start(t, Options{Keep: 2})
	for range 3 {
		if err := send(addr, nil); err != nil {
			t.Fatal(err)
		}
	}
	if m := h.Messages(); h.Count() != 3 || len(m) != 2 || m[0].Number != 2 {
		t.Errorf("of %d it has %+v", h.Count(), m)
	}
}

func TestPage(t *testing.T) {
	h, addr := start(t, Options{})
	mux := http.NewServeMux()
	mux.Handle("/mail/", http.StripPrefix("/mail", (&Page{Host: h, Relay: addr, Console: "http://console.example"}).Handler()))
	s := httptest.NewServer(mux)
	defer s.Close()
	get := func(path string) string {
		t.Helper()
		r, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil || r.StatusCode != 200 {
			t.Errorf("%s: %d, %v", path, r.StatusCode, err)
		}
		return b.String()
	}
	post := func(path string, form url.Values) string {
		t.Helper()
		r, err := s.Client().PostForm(s.URL+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || r.Request.URL.Path != "/mail/" {
			t.Errorf("%s leads to %s: %d, %v", path, r.Request.URL, r.StatusCode, err)
		}
		return string(body)
	}
	if page := get("/mail/"); !strings.Contains(page, "No message yet") || !strings.Contains(page, "http://console.example") {
		t.Errorf("at first: %s", page)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/mail/live", nil)
	live, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Body.Close()
	if page := post("/mail/send", url.Values{"count": {"2"}}); !strings.Contains(page, "Outrigger has taken 2.") || strings.Count(page, "<article") != 2 ||
		!strings.Contains(page, "A ticket was assigned to you") {
		t.Errorf("after sending: %s", page)
	}
	event := make([]byte, 64)
	if _, err := io.ReadAtLeast(live.Body, event, 40); err != nil || !strings.Contains(string(event), "event: messages") {
		t.Errorf("live says %q, %v", event, err)
	}
	if page := post("/mail/mode", url.Values{"mode": {"refuses"}}); !strings.Contains(page, `value="refuses" selected`) {
		t.Errorf("after the mode: %s", page)
	}
	if page := post("/mail/send", url.Values{"count": {"x"}}); !strings.Contains(page, "Outrigger did not take it: 550") {
		t.Errorf("refused: %s", page)
	}
	for _, path := range []string{"/mail/messages", "/mail/web/mail.css", "/mail/web/mail.js"} {
		get(path)
	}
}
