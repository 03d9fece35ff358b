package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Clients on kept connections that send at any moment are answered, or find the
// connection closed before they send; what waits behind is not accepted.
func TestFinishAnswersWhatHasCome(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var ending atomic.Bool
	hold, held := make(chan struct{}), make(chan struct{})
	server := Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			close(held)
			<-hold
		}
		if ending.Load() {
			w.Header().Set("Connection", "close")
		}
	}), slog.New(slog.DiscardHandler))
	own := Listen(l, 1000, slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(own) }()
	defer server.Close()

	addr := l.Addr().String()
	request := func(path string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
	}
	slow := open(t, addr, request("/held"))
	<-held
	idle := open(t, addr, request("/"))
	if status := answerTo(t, idle); status != http.StatusOK {
		t.Fatal(status)
	}
	// Each of these waits a little longer between its requests, up to where the
	// connection is closed.
	var clients sync.WaitGroup
	var asking sync.WaitGroup // for their first answers
	for i := range 20 {
		asking.Add(1)
		clients.Go(func() {
			if err := keepAsking(addr, request("/"), time.Duration(i)*10*time.Millisecond, asking.Done); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	ending.Store(true)
	finished := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { finished <- own.Finish(ctx) }()
	clients.Wait()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection that is not used: %v", err)
	}
	select {
	case err := <-finished:
		t.Errorf("a request that is answered is not waited for: %v", err)
	default:
	}
	close(hold)
	if status := answerTo(t, slow); status != http.StatusOK {
		t.Error(status)
	}
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if err := <-served; err == nil {
		t.Error("it accepts still")
	}
}

// keepAsking sends requests on one connection until an answer says that it is
// the last, or the connection is closed because a busy machine made the client
// later than the pause.
func keepAsking(addr, request string, pause time.Duration, first func()) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n, sent := 0, time.Now(); ; n++ {
		<-timer.C
		before := sent
		sent = time.Now()
		_, err := io.WriteString(c, request)
		var resp *http.Response
		if err == nil {
			resp, err = http.ReadResponse(in, nil)
		}
		if err != nil && n > 0 && time.Since(before) > quietTime {
			return nil
		}
		if err != nil {
			return fmt.Errorf("request %d, %s after the one before: %w", n, pause, err)
		}
		resp.Body.Close()
		if n == 0 {
			first()
		}
		if resp.Close {
			return nil
		}
		timer.Reset(pause)
	}
}

// A connection that is accepted at the moment when no more are is answered, too.
func TestFinishWaitsForTheLastAccepted(t *testing.T) {
	server, client := net.Pipe()
	late := &lateListener{conn: server, asked: make(chan struct{}), closed: make(chan struct{}), let: make(chan struct{})}
	own := Listen(late, 10, slog.New(slog.DiscardHandler))
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := own.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	<-late.asked
	finished := make(chan error, 1)
	go func() { finished <- own.Finish(t.Context()) }()
	<-late.closed
	select {
	case err := <-finished:
		t.Fatalf("finished before the last connection was accepted: %v", err)
	case <-time.After(5 * lookEvery):
	}
	close(late.let)
	c := <-accepted
	select {
	case err := <-finished:
		t.Fatalf("finished while the last connection is open: %v", err)
	case <-time.After(2 * lookEvery):
	}
	c.Close()
	client.Close()
	if err := <-finished; err != nil {
		t.Error(err)
	}
}

// lateListener has a connection that it gives only after it was closed.
type lateListener struct {
	conn               net.Conn
	asked, closed, let chan struct{}
}

func (l *lateListener) Accept() (net.Conn, error) {
	close(l.asked)
	<-l.let
	return l.conn, nil
}

func (l *lateListener) Close() error   { close(l.closed); return nil }
func (l *lateListener) Addr() net.Addr { return l.conn.LocalAddr() }
