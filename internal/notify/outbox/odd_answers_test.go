package outbox

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"outrigger/internal/egress"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// Odd answers of a chat platform: a message is posted once, little of the answer is
// read, and what is kept of it is text.
func TestOddAnswers(t *testing.T) {
	var posts atomic.Int32
	var written atomic.Int64
	much := bytes.Repeat([]byte("Accepted. "), 1<<20/10)
	flood := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			for range 100 { // nearly 100 MiB
				n, err := w.Write(much)
				written.Add(int64(n))
				if err != nil {
					return
				}
			}
		}
	}
	chat := http.NewServeMux()
	chat.HandleFunc("/taken", flood(http.StatusOK))
	chat.HandleFunc("/down", flood(http.StatusServiceUnavailable))
	chat.HandleFunc("/binary", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\x00\xff\xfe\x1b[31mred\n"))
	})
	chat.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/taken", http.StatusTemporaryRedirect)
	})
	chat.HandleFunc("/closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	chat.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "cut")
	})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		chat.ServeHTTP(w, r)
	}))
	server.Config.SetKeepAlivesEnabled(false)
	server.Start()
	t.Cleanup(server.Close)
	b := &Outbox{Options: Options{Client: toThisMachine(t), Clock: time.Now}}

	for _, c := range []struct {
		url     string
		status  int
		answer  string // part of it
		err     string
		verdict verdict
	}{
		{server.URL + "/taken", 200, "Accepted", "", done},
		{server.URL + "/down", 503, "Accepted", "", wait},
		{server.URL + "/binary", 200, "red", "", done},
		{server.URL + "/moved", 307, "", "", broken},
		{server.URL + "/closed", 0, "", "closed the connection", wait},
		{server.URL + "/short", 200, "cut", "", done},
		{greeting(t), 0, "", "did not answer in HTTP", wait},
	} {
		posts.Store(0)
		written.Store(0)
		attempt, o := b.post(t.Context(), secret.New(c.url), []byte("{}"))
		if attempt.Status != c.status || !strings.Contains(attempt.Answer, c.answer) || !strings.Contains(attempt.Err, c.err) || o.verdict != c.verdict {
			t.Errorf("%s: %+v, judged %v", c.url, attempt, o.verdict)
		}
		if len(attempt.Answer) > work.MaxAnswer || !utf8.ValidString(attempt.Answer) {
			t.Errorf("%s: %d bytes are kept: %q", c.url, len(attempt.Answer), attempt.Answer)
		}
		if n := posts.Load(); n > 1 {
			t.Errorf("%s: posted %d times", c.url, n)
		}
		if n := written.Load(); n > 20<<20 {
			t.Errorf("%s: %d bytes were read", c.url, n)
		}
	}
}

// greeting is the URL of a server that does not speak HTTP.
func greeting(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "220 mail.example.com ESMTP\r\n")
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

// toThisMachine posts to servers of tests.
func toThisMachine(t *testing.T) *egress.Caller {
	t.Helper()
	client, err := egress.New(egress.Options{Policy: egress.Policy{Allowed: []string{"127.0.0.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client.Webhook()
}
