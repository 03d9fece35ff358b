package rest

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are net.Pipes, so that time in a
// synctest bubble passes at once.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.dialled <- server
	return client
}

// servePipes serves the handler within a bubble.
func servePipes(t *testing.T, h http.HandlerFunc) *pipes {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	server := Server(h, slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(p) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

// drip sends a request whose body comes in pieces of n bytes, one each pause,
// for as long as the server reads. It gives the status of the answer and how
// long the connection was open.
func drip(t *testing.T, c net.Conn, n int, pause time.Duration, total int) (status int, open time.Duration) {
	began := time.Now()
	stop := make(chan struct{})
	go func() {
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", total); err != nil {
			return
		}
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for sent := 0; sent < total; sent += n {
			if _, err := c.Write(make([]byte, min(n, total-sent))); err != nil {
				return
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	defer close(stop)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Errorf("%d bytes each %v: no answer: %v", n, pause, err)
		return 0, time.Since(began)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.Close {
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		_, _ = io.Copy(io.Discard, c) // until the server closes it
	}
	open = time.Since(began)
	_ = c.Close()
	return resp.StatusCode, open
}

func TestBodiesKeepThePace(t *testing.T) {
	read := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			WriteError(w, r, err)
		}
	}
	patient := func(w http.ResponseWriter, r *http.Request) { <-time.After(20 * time.Second); read(w, r) }
	upload := func(w http.ResponseWriter, r *http.Request) { BeginUpload(r); read(w, r) }
	late := func(w http.ResponseWriter, r *http.Request) { // busy for longer than a client may stall
		_, _ = io.ReadFull(r.Body, make([]byte, 1000))
		<-time.After(20 * time.Second)
		read(w, r)
	}
	unread := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no") }
	unreadLong := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("no", 10_000)) }
	const hour = time.Hour
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		n       int
		pause   time.Duration
		total   int
		status  int
		open    time.Duration // at most; at least 1.5 s less
	}{
		"a byte, then nothing":               {read, 1, hour, 100, 408, 6 * time.Second},
		"a byte of an upload, then nothing":  {upload, 1, hour, 100, 408, 6 * time.Second},
		"a byte a second":                    {read, 1, time.Second, 1000, 408, 6 * time.Second},
		"half the rate":                      {read, 8 << 10, time.Second, 1 << 20, 408, 11 * time.Second},
		"half the rate of an upload":         {upload, 8 << 10, time.Second, 1 << 20, 408, 11 * time.Second},
		"fast, then nothing":                 {upload, 8 << 20, hour, 9 << 20, 408, 6 * time.Second},
		"the rate, for too long":             {read, 17 << 10, time.Second, 1 << 20, 408, 31 * time.Second},
		"the rate, for as long as it takes":  {upload, 16 << 10, time.Second, 1 << 20, 200, 63 * time.Second},
		"slow, but short":                    {read, 1, time.Second, 4, 200, 4 * time.Second},
		"a handler that is slower":           {late, 1 << 10, 10 * time.Millisecond, 64 << 10, 200, 21 * time.Second},
		"a handler that begins late":         {patient, 1 << 10, 10 * time.Millisecond, 64 << 10, 200, 21 * time.Second},
		"a handler that does not read":       {unread, 1, hour, 100, 200, 6 * time.Second},
		"the same, and bytes come":           {unread, 1, time.Second, 1000, 200, 6 * time.Second},
		"a long answer without reading":      {unreadLong, 1, hour, 100, 200, 6 * time.Second},
		"a long body that a handler refuses": {unread, 1 << 10, time.Millisecond, 1 << 20, 200, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := servePipes(t, c.handler)
				status, open := drip(t, p.dial(), c.n, c.pause, c.total)
				if status != c.status || open > c.open || open < c.open-1500*time.Millisecond {
					t.Errorf("%d after %v, want %d after %v", status, open, c.status, c.open)
				}
			})
		})
	}
}

// An answer that takes long is not the client's fault, with or without a body.
func TestPaceEndsWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := servePipes(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
				t.Error("the request was cancelled")
			case <-time.After(10 * time.Minute):
			}
		})
		c := p.dial()
		answers := bufio.NewReader(c)
		for _, body := range []string{"", "four"} {
			if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil || resp.StatusCode != 200 || resp.Close {
				t.Errorf("body %q: %v, %v", body, resp, err)
			}
		}
		_ = c.Close()
	})
}
