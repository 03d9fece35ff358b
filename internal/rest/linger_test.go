package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"log/slog"

	"outrigger/internal/fault"
)

// A client that sends all of its body before it reads gets the answer that
// refuses it.
func TestARefusalReachesWhoWritesFirst(t *testing.T) {
	addr, _ := serveCapped(t, 10, func(w http.ResponseWriter, r *http.Request) {
		WriteError(w, r, errTooLarge(1<<20))
	})
	const size = 12 << 20
	for name, header := range map[string]string{"declared": fmt.Sprintf("Content-Length: %d", size), "chunked": "Transfer-Encoding: chunked"} {
		c := open(t, addr, "POST / HTTP/1.1\r\nHost: h\r\n"+header+"\r\n\r\n")
		body := strings.Repeat("x", size)
		if name == "chunked" {
			body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body)
		}
		if _, err := io.WriteString(c, body); err != nil {
			t.Errorf("%s: the body is not read: %v", name, err)
			continue
		}
		if status := answerTo(t, c); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// What is read after a refusal has an end, in bytes and in time.
func TestARefusedBodyIsNotReadForEver(t *testing.T) {
	refuse := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		WriteError(w, r, fault.New(fault.Unauthenticated, "No."))
	}
	for name, c := range map[string]struct {
		n     int
		pause time.Duration
		total int
		open  time.Duration
	}{
		"fast":  {1 << 20, time.Millisecond, 1 << 30, time.Second},
		"slow":  {1 << 10, 100 * time.Millisecond, 1 << 30, 6 * time.Second},
		"stops": {1 << 10, time.Hour, 1 << 30, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := servePipes(t, refuse)
				if status, open := drip(t, p.dial(), c.n, c.pause, c.total); status != http.StatusUnauthorized || open > c.open {
					t.Errorf("%d after %v, want 401 within %v", status, open, c.open)
				}
			})
		})
	}
}

// A client that does not read its answer does not hold the connection.
func TestAnswersThatAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		failed := make(chan time.Duration, 1)
		server := Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			if r.URL.Path == "/own" { // a stream with a deadline of its own
				_ = http.NewResponseController(w).SetWriteDeadline(began.Add(time.Hour))
			}
			_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
			if err != nil {
				failed <- time.Since(began)
			}
		}), slog.New(slog.DiscardHandler))
		go func() { _ = server.Serve(Listen(p, 10, slog.New(slog.DiscardHandler))) }()
		t.Cleanup(func() { _ = server.Close() })
		ask := func(path string) net.Conn {
			c := p.dial()
			if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path); err != nil {
				t.Fatal(err)
			}
			return c
		}
		defer ask("/").Close()
		if after := <-failed; after < writeTime/2 || after > 2*writeTime {
			t.Errorf("an answer that is not read ends after %v, want about %v", after, writeTime)
		}
		defer ask("/own").Close()
		if after := <-failed; after != time.Hour {
			t.Errorf("an answer with a deadline of its own ends after %v", after)
		}
		slow := ask("/") // a megabyte in two minutes
		defer slow.Close()
		resp, err := http.ReadResponse(bufio.NewReaderSize(slow, 16), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for buf := make([]byte, 8<<10); ; <-time.After(time.Second) {
			k, err := io.ReadFull(resp.Body, buf)
			if n += k; err != nil {
				break
			}
		}
		if n != 1<<20 {
			t.Errorf("a slow reader got %d bytes", n)
		}
	})
}
