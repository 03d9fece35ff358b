package egress

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// chatServer takes messages over TCP, counts them, and answers as it is told.
type chatServer struct {
	url      string
	messages atomic.Int32
	conns    atomic.Int32
}

// serveChat answers each message on a connection as answer says, which gets the
// connection and the number of the message on it, from 1; false ends the
// connection.
func serveChat(t *testing.T, answer func(out net.Conn, n int) bool) *chatServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &chatServer{url: "http://" + l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			all.Go(func() { s.serve(t, c, answer) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return s
}

func (s *chatServer) serve(t *testing.T, c net.Conn, answer func(net.Conn, int) bool) {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(t.Context(), func() { _ = c.Close() })()
	in := bufio.NewReader(c)
	for n := 1; ; n++ {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		s.messages.Add(1)
		if !answer(c, n) {
			return
		}
	}
}

func takeIt(out net.Conn, _ int) bool {
	_, err := fmt.Fprint(out, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	return err == nil
}

// send posts a message as the outbox does, from bytes that could be read again.
func send(t *testing.T, c *Client, url string) error {
	t.Helper()
	req, err := NewRequest(t.Context(), http.MethodPost, url+secretPath, bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Webhook().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// A message whose kept connection ends after it was read may have been posted:
// each sending is one try, that its sender counts.
func TestMessageIsNotSentAgainByItself(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"closed":         func(net.Conn) {},
		"reset":          func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"half an answer": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le") },
	} {
		t.Run(name, func(t *testing.T) {
			chat := serveChat(t, func(out net.Conn, n int) bool {
				if n == 1 {
					return takeIt(out, n)
				}
				end(out)
				return false
			})
			c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}})
			if err := send(t, c, chat.url); err != nil {
				t.Fatal(err)
			}
			if err := send(t, c, chat.url); err == nil || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the second message has no answer, and Do says %v", err)
			}
			if messages, conns := chat.messages.Load(), chat.conns.Load(); messages != 2 || conns != 1 {
				t.Errorf("2 sendings came as %d messages on %d connections", messages, conns)
			}
		})
	}
}

// A kept connection that was closed meanwhile fails no message: nothing of it
// was written there.
func TestConnectionClosedWhileIdle(t *testing.T) {
	closed := make(chan struct{}, 1)
	chat := serveChat(t, func(out net.Conn, n int) bool {
		takeIt(out, n)
		_ = out.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, out) // until the client has closed it too
		closed <- struct{}{}
		return false
	})
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}})
	for range 20 {
		if err := send(t, c, chat.url); err != nil {
			t.Fatal(err)
		}
		<-closed
	}
	if n := chat.messages.Load(); n != 20 {
		t.Errorf("20 sendings came as %d messages", n)
	}
}
