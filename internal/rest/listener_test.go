package rest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// serveCapped serves the handler on a port with a cap of connections.
func serveCapped(t *testing.T, most int, h http.HandlerFunc) (addr string, log *lockedBuffer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &lockedBuffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	server := Server(h, logger)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(Listen(l, most, logger)) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return l.Addr().String(), log
}

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

// open dials and sends what a request begins with.
func open(t *testing.T, addr, begin string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, begin); err != nil {
		t.Fatal(err)
	}
	return c
}

const getRequest = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// ask sends one request and gives its status.
func ask(t *testing.T, c net.Conn) int {
	t.Helper()
	if _, err := io.WriteString(c, getRequest); err != nil {
		t.Fatal(err)
	}
	return answerTo(t, c)
}

func answerTo(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func TestConnectionsAreCapped(t *testing.T) {
	const most = 64
	busy, finish := make(chan struct{}), make(chan struct{})
	addr, log := serveCapped(t, most, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.ContentLength == 4 { // a long answer to a whole request
			_, _ = io.Copy(io.Discard, r.Body)
			close(busy)
			<-finish
		}
	})
	working := open(t, addr, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nfour")
	<-busy
	began := time.Now()
	var idle []net.Conn
	for i := range 10 * most {
		switch i % 3 {
		case 0: // says nothing
			idle = append(idle, open(t, addr, ""))
		case 1: // a header without an end
			idle = append(idle, open(t, addr, "GET / HT"))
		default: // a body without an end
			idle = append(idle, open(t, addr, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"))
		}
		if i%50 == 0 {
			if status := ask(t, open(t, addr, "")); status != http.StatusOK {
				t.Fatalf("among %d idle connections: %d", i, status)
			}
		}
	}
	// Its read ends when the server closes the connection.
	if _, err := io.Copy(io.Discard, idle[0]); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the longest idle connection is still open")
	}
	close(finish)
	if status := answerTo(t, working); status != http.StatusOK {
		t.Errorf("the request that was being answered: %d", status)
	}
	said := log.String()
	times := strings.Count(said, "level=WARN msg=\"too many connections are open")
	if most := 1 + int(time.Since(began)/sayEvery); times < 1 || times > most {
		t.Errorf("said %d times:\n%s", times, said)
	}
	if !strings.Contains(said, fmt.Sprintf("most=%d", most)) {
		t.Errorf("the cap is not named: %s", said)
	}
}

// Between the end of a handler and the writing of its answer a connection is
// neither busy nor idle.
func TestAnswersThatAreNotWrittenYetAreKept(t *testing.T) {
	answered, idle := &conn{}, &conn{}
	answered.last.Store(1)
	answered.begin()
	idle.last.Store(2)
	answered.end()
	goes := expendable(map[*conn]struct{}{answered: {}, idle: {}}, nil, 1)
	if len(goes) != 1 || goes[0] != idle {
		t.Error("the connection whose request has just been handled is closed")
	}
}

// openFrom is open from another address of this machine.
func openFrom(t *testing.T, from, addr, begin string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, begin); err != nil {
		t.Fatal(err)
	}
	return c
}

// Who opens many connections loses their own, and not those of others that have
// been idle for longer.
func TestTheCapIsTheFloodersOwn(t *testing.T) {
	const most = 64
	addr, _ := serveCapped(t, most, func(http.ResponseWriter, *http.Request) {})
	var others []net.Conn
	for range 8 {
		others = append(others, open(t, addr, ""))
	}
	for _, c := range others {
		if status := ask(t, c); status != http.StatusOK {
			t.Fatalf("before the flood: %d", status)
		}
	}
	for range 5 * most {
		openFrom(t, "127.0.0.3", addr, "GET / HT")
	}
	for i, c := range others {
		if status := ask(t, c); status != http.StatusOK {
			t.Errorf("connection %d after the flood: %d", i, status)
		}
	}
}

// noDescriptors is a listener that has none left, once.
type noDescriptors struct {
	net.Listener
	once sync.Once
}

func (l *noDescriptors) Accept() (c net.Conn, err error) {
	l.once.Do(func() {
		err = &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	})
	if err != nil {
		return nil, err
	}
	return l.Listener.Accept()
}

func TestNoDescriptorsIsSaid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	server := Server(http.NotFoundHandler(), logger)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(Listen(&noDescriptors{Listener: l}, 10, logger)) }()
	if status := ask(t, open(t, l.Addr().String(), "")); status != http.StatusNotFound {
		t.Errorf("after it: %d", status)
	}
	_ = server.Close()
	<-done
	if said := log.String(); strings.Count(said, "level=ERROR") != 1 || !strings.Contains(said, syscall.EMFILE.Error()) {
		t.Errorf("the log says %q", said)
	}
}
