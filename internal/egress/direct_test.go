package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func directClient(t *testing.T) *direct {
	t.Helper()
	d := newDirect((&net.Dialer{}).DialContext, nil)
	t.Cleanup(d.CloseIdleConnections)
	return d
}

// peer answers on TCP by a script: one function a connection, the last for all
// further ones.
func peer(t *testing.T, script ...func(n int, in *bufio.Reader, out net.Conn)) (url string, connections *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	connections = new(atomic.Int32)
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(connections.Add(1))
			all.Go(func() {
				defer c.Close()
				defer context.AfterFunc(t.Context(), func() { c.Close() })()
				script[min(n, len(script))-1](n, bufio.NewReader(c), c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return "http://" + l.Addr().String(), connections
}

// asked reads a request and gives its body, "" and false at the end.
func asked(in *bufio.Reader) (string, bool) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return "", false
	}
	body, err := io.ReadAll(req.Body)
	return string(body), err == nil
}

// echo answers every request with its body.
func echo(_ int, in *bufio.Reader, out net.Conn) {
	for {
		body, ok := asked(in)
		if !ok {
			return
		}
		fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
}

func sendTo(ctx context.Context, d *direct, url, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := d.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

func mustEcho(t *testing.T, d *direct, url, body string) {
	t.Helper()
	status, answer, err := sendTo(t.Context(), d, url, body)
	if err != nil || status != 200 || answer != body {
		t.Fatalf("%d %q, %v; want %q", status, answer, err, body)
	}
}

func TestConnectionIsKept(t *testing.T) {
	d := directClient(t)
	url, connections := peer(t, echo)
	for i := range 5 {
		mustEcho(t, d, url, fmt.Sprint("message ", i))
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
	d.CloseIdleConnections()
	mustEcho(t, d, url, "again")
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections; the one that was closed is used", n)
	}
}

func TestConnectionIsKeptWithTLS(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.EnableHTTP2 = true // offered, and not taken
	server.StartTLS()
	defer server.Close()
	d := newDirect((&net.Dialer{}).DialContext, server.Client().Transport.(*http.Transport).TLSClientConfig)
	defer d.CloseIdleConnections()
	for i := range 5 {
		mustEcho(t, d, server.URL, fmt.Sprint("message ", i))
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

// heldBack is a connection whose writes wait for one another.
type heldBack struct {
	net.Conn
	hold bool
	buf  []byte
}

func (h *heldBack) Write(p []byte) (int, error) {
	if h.hold {
		h.buf = append(h.buf, p...)
		return len(p), nil
	}
	return h.Conn.Write(p)
}

// With TLS, what came together with the answer is in memory, and not on the
// connection any more.
func TestAnswerThatNobodyAskedForWithTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	url, connections := peer(t, func(n int, _ *bufio.Reader, out net.Conn) {
		held := &heldBack{Conn: out}
		c := tls.Server(held, certified.TLS)
		in := bufio.NewReader(c)
		for {
			body, ok := asked(in)
			if !ok {
				return
			}
			held.hold = n == 1
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			if held.hold {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold")
				out.Write(held.buf)
			}
		}
	})
	d := newDirect((&net.Dialer{}).DialContext, certified.Client().Transport.(*http.Transport).TLSClientConfig)
	defer d.CloseIdleConnections()
	for i := range 3 {
		mustEcho(t, d, strings.Replace(url, "http:", "https:", 1), fmt.Sprint("message ", i))
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// What the other side does to a connection that is kept is no failure of the
// next request, and no answer to it.
func TestKeptConnectionGoesBad(t *testing.T) {
	for _, tc := range []struct {
		name  string
		shows bool // before the next request
		then  func(in *bufio.Reader, out net.Conn)
	}{
		{"closed", true, func(*bufio.Reader, net.Conn) {}},
		{"an answer that nobody asked for", true, func(in *bufio.Reader, out net.Conn) {
			io.WriteString(out, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nold")
			asked(in)
		}},
		{"closed when the next request has come", false, func(in *bufio.Reader, _ net.Conn) { asked(in) }},
		{"reset when the next request has come", false, func(in *bufio.Reader, out net.Conn) {
			asked(in)
			out.(*net.TCPConn).SetLinger(0)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := directClient(t)
			bad := make(chan struct{})
			url, connections := peer(t, func(_ int, in *bufio.Reader, out net.Conn) {
				body, _ := asked(in)
				fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				<-bad
				tc.then(in, out)
			}, echo)
			mustEcho(t, d, url, "first")
			close(bad)
			for tc.shows && !keptConn(d).stale() {
				runtime.Gosched()
			}
			mustEcho(t, d, url, "second")
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// keptConn is the only connection that is kept.
func keptConn(d *direct) *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.hosts {
		return h.idle[0]
	}
	return nil
}

// A new connection that is closed without an answer is a failure: sending again
// is for who knows what the request means.
func TestNewConnectionWithoutAnAnswer(t *testing.T) {
	d := directClient(t)
	url, connections := peer(t, func(_ int, in *bufio.Reader, _ net.Conn) { asked(in) })
	if _, _, err := sendTo(t.Context(), d, url, "x"); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// An answer that is cut off is not asked for again, though the connection was
// kept: the request did come through.
func TestAnswerThatIsCutOff(t *testing.T) {
	for _, answer := range []string{"HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"} {
		d := directClient(t)
		url, connections := peer(t, func(_ int, in *bufio.Reader, out net.Conn) {
			body, _ := asked(in)
			fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			asked(in)
			io.WriteString(out, answer)
		})
		mustEcho(t, d, url, "first")
		if status, got, err := sendTo(t.Context(), d, url, "second"); err == nil {
			t.Errorf("%q is taken for an answer: %d %q", answer, status, got)
		}
		if n := connections.Load(); n != 1 {
			t.Errorf("%q: it was sent again", answer)
		}
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 3*maxAnswerHeaders)
	for _, tc := range []struct {
		name, answer string
		status       int
		body         string
		kept         bool
	}{
		{"with a length", "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok", 202, "ok", true},
		{"empty", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n", 200, "ok!", true},
		{"after others that say it will come", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
		{"longer than headers may be", "HTTP/1.1 200 OK\r\nContent-Length: " + fmt.Sprint(len(long)) + "\r\n\r\n" + long, 200, long, true},
		{"up to the end", "HTTP/1.1 500 Oops\r\n\r\nbroken", 500, "broken", false},
		{"the last one", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
		{"of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
		{"with more behind it", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 200, "ok", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := directClient(t)
			url, connections := peer(t, func(_ int, in *bufio.Reader, out net.Conn) {
				for {
					if _, ok := asked(in); !ok {
						return
					}
					io.WriteString(out, tc.answer)
					if !tc.kept {
						return
					}
				}
			})
			for range 2 {
				if status, body, err := sendTo(t.Context(), d, url, "x"); err != nil || status != tc.status || body != tc.body {
					t.Errorf("%d %.40q, %v", status, body, err)
				}
			}
			if n := connections.Load(); (n == 1) != tc.kept {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestBadAnswers(t *testing.T) {
	for name, answer := range map[string]string{
		"no HTTP":      "220 mail.example ESMTP\r\n",
		"long headers": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxAnswerHeaders) + "\r\n\r\n",
		"endless ones": "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxAnswerHeaders/6) + "\r\n",
		"only hints":   strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxAnswerHeaders/28+1),
	} {
		t.Run(name, func(t *testing.T) {
			d := directClient(t)
			url, connections := peer(t, func(_ int, in *bufio.Reader, out net.Conn) {
				asked(in)
				io.WriteString(out, answer)
			})
			if status, _, err := sendTo(t.Context(), d, url, "x"); err == nil {
				t.Errorf("taken for an answer: %d", status)
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}

// The end of the request's context ends it at once, wherever it is, and its
// connection.
func TestContextEnds(t *testing.T) {
	for name, answer := range map[string]string{
		"before an answer": "", "in the headers": "HTTP/1.1 200 OK\r\nX", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			d := directClient(t)
			url, connections := peer(t, func(_ int, in *bufio.Reader, out net.Conn) {
				asked(in)
				io.WriteString(out, answer)
				in.ReadByte() // until it is closed
			}, echo)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, _, err := sendTo(ctx, d, url, "x"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			mustEcho(t, d, url, "next")
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// What is not read to its end takes its connection with it.
func TestBodyLeftUnread(t *testing.T) {
	d := directClient(t)
	url, connections := peer(t, echo)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("message"))
	resp, err := d.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("a closed body reads: %v", err)
	}
	mustEcho(t, d, url, "next")
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
	if len(d.hosts) != 1 || d.kept != 1 {
		t.Errorf("%d hosts and %d connections are kept", len(d.hosts), d.kept)
	}
}

// However many ask at once, and whatever becomes of connections meanwhile,
// everybody gets the answer to his own request.
func TestEverybodyGetsHisOwnAnswer(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch n.Add(1) % 7 {
		case 0:
			w.Header().Set("Connection", "close")
		case 3:
			w.WriteHeader(http.StatusEarlyHints)
		case 5:
			http.NewResponseController(w).Flush() // in chunks
		}
		w.Write(body)
	}))
	defer server.Close()
	d := directClient(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for k := range 50 {
				body := fmt.Sprintf("%d/%d %s", i, k, strings.Repeat("x", k*40))
				if _, answer, err := sendTo(t.Context(), d, server.URL, body); err != nil || answer != body {
					t.Errorf("%.20q, %v; want %.20q", answer, err, body)
				}
			}
		})
	}
	all.Wait()
	d.CloseIdleConnections()
	if len(d.hosts) != 0 || d.kept != 0 || d.reap != nil {
		t.Errorf("%d hosts and %d connections are kept at the end", len(d.hosts), d.kept)
	}
}
