package smtpd

import (
	"context"
	"errors"
	"io"
	"net"
	"net/textproto"
	"runtime"
	"sync"
	"testing"
	"time"

	"outrigger/internal/mailqueue/relay/smtptest"
)

// Before others accept its clients, a server takes what those that are there
// came for. One that has sent a message and is idle is sent away with a reply
// after which clients try again.
func TestFinish(t *testing.T) {
	box := &inbox{}
	s := New(Options{Hostname: "relay.example", MaxMessage: 1 << 20, MaxRecipients: 100, MaxClients: 40, Backend: box})
	s.Open()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	addr := l.Addr().String()
	to := []string{"b@example.com"}
	fresh, again, idle, chunks, stuck := smtptest.Hello(t, addr), smtptest.Hello(t, addr), smtptest.Hello(t, addr), smtptest.Hello(t, addr), smtptest.Hello(t, addr)
	for _, c := range []*smtptest.Client{again, idle, chunks} {
		c.Send("a@example.com", to, letter)
	}
	chunks.Ask("MAIL FROM:<a@example.com>", "250")
	chunks.Ask("RCPT TO:<b@example.com>", "250")
	chunks.Say("BDAT 5\r\nhello")
	chunks.Expect("250")
	again.Ask("MAIL FROM:<a@example.com>", "250")
	stuck.Say(data)
	for _, want := range []string{"250", "250", "354"} {
		stuck.Expect(want)
	}
	finished := make(chan struct{})
	go func() { defer close(finished); s.Finish(patience) }()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving: %v", err)
	}
	idle.Expect("421 4.3.2")
	again.Ask("RCPT TO:<b@example.com>", "250")
	again.Ask("DATA", "354")
	again.Say(letter + ".\r\n")
	again.Expect("250")
	again.Expect("421 4.3.2")
	// Who is in the middle of a message, or has sent none yet, is waited for.
	fresh.Send("a@example.com", to, letter)
	fresh.Expect("421 4.3.2")
	select {
	case <-finished:
		t.Error("clients in the middle of a message are not waited for")
	default:
	}
	stuck.Say(head)
	through := make(chan error, 1)
	go func() { through <- s.Shutdown(lastMoment{t.Context()}) }()
	// At the end they hear that they are to send it again.
	stuck.Expect("421 4.3.2")
	if _, err := stuck.Text.ReadLine(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	stuck.Conn.Close()
	chunks.Conn.Close()
	must(t, <-through)
	<-finished
	if got := box.messages(); len(got) != 3+1+1 || box.opened != box.closed {
		t.Errorf("%d messages were taken, %d begun, %d closed", len(got), box.opened, box.closed)
	}
}

// lastMoment is a context that is about to end, and leaves a busy machine the
// time for the last word.
type lastMoment struct{ context.Context }

func (lastMoment) Deadline() (time.Time, bool) { return time.Now().Add(lastWord), true }

// A client that is accepted at the moment when no more are is served, too.
func TestFinishWaitsForTheLastAccepted(t *testing.T) {
	s := New(Options{Hostname: "relay.example", MaxMessage: 1 << 20, MaxRecipients: 100, MaxClients: 40, Backend: &inbox{}})
	s.Open()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	late := &lateListener{Listener: l, accepted: make(chan struct{}), let: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(late) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	defer conn.Close()
	<-late.accepted
	finished := make(chan struct{})
	go func() { defer close(finished); s.Finish(patience) }()
	for !s.stopped() {
		runtime.Gosched()
	}
	select {
	case <-finished:
		t.Error("finished before the last client was served")
	case <-time.After(50 * time.Millisecond):
	}
	close(late.let)
	client := textproto.NewConn(conn)
	if _, _, err := client.ReadResponse(220); err != nil {
		t.Error(err)
	}
	client.Close()
	<-finished
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving: %v", err)
	}
}

// lateListener accepts a client, and hands it over only when it is let.
type lateListener struct {
	net.Listener
	accepted, let chan struct{}
	once          sync.Once
}

func (l *lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.once.Do(func() { close(l.accepted) })
		<-l.let
	}
	return c, err
}
