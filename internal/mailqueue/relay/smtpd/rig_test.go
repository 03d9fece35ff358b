package smtpd

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/mailqueue/relay/smtptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

const (
	mail   = "MAIL FROM:<a@example.com>\r\n"
	rcpt   = "RCPT TO:<b@example.com>\r\n"
	data   = mail + rcpt + "DATA\r\n"
	head   = "Subject: x\r\n\r\n"
	end    = "\r\n.\r\n"
	letter = "From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\n\r\nHello\r\n"
)

// inbox is a backend in memory.
type inbox struct {
	full error         // what Commit meets
	slow time.Duration // what each Write takes

	mu     sync.Mutex
	users  map[string]string // tokens by user
	err    error             // what SignIn meets
	taken  []*taken
	closed int // messages that were closed
	opened int
}

// taken is a message as it came.
type taken struct {
	box  *inbox
	env  Envelope
	data bytes.Buffer
	open bool
}

func (b *inbox) SignIn(_ context.Context, user, token, address string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.err != nil:
		return "", b.err
	case address != "127.0.0.1":
		return "", errors.New("the address is " + address)
	case token != "" && b.users[user] == token:
		return user, nil
	}
	return "", &Reply{535, "5.7.8", "The name or the token is wrong."}
}

// signIns has SignIn know one token of ann, or meet an error.
func (b *inbox) signIns(token string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users, b.err = map[string]string{"ann": token}, err
}

func (b *inbox) Receive(env Envelope) Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	return &taken{box: b, env: env}
}

func (m *taken) Write(p []byte) (int, error) {
	if m.box.slow > 0 {
		<-time.After(m.box.slow)
	}
	return m.data.Write(p)
}

func (m *taken) Close() {
	m.box.mu.Lock()
	defer m.box.mu.Unlock()
	m.box.closed++
}

func (m *taken) Commit(open bool) (string, error) {
	m.box.mu.Lock()
	defer m.box.mu.Unlock()
	if m.box.full != nil {
		return "", m.box.full
	}
	m.open = open
	m.box.taken = append(m.box.taken, m)
	return "Queued as " + strconv.Itoa(len(m.box.taken)) + ".", nil
}

// messages are those that were committed.
func (b *inbox) messages() []*taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*taken(nil), b.taken...)
}

// rig is a server with an inbox.
type rig struct {
	*Server
	t    testing.TB
	box  *inbox
	addr string
}

func newRig(t testing.TB, set func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, box: &inbox{users: map[string]string{"ann": "mail-token"}}}
	o := Options{Hostname: "relay.example", MaxMessage: 25 << 20, MaxRecipients: 1000, MaxClients: 200, Backend: r.box}
	if set != nil {
		set(&o)
	}
	r.Server = New(o)
	r.silence, r.penalty = 50*time.Millisecond, time.Millisecond
	r.Open()
	r.addr = r.serve(func(l net.Listener) net.Listener { return l })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if r.box.opened != r.box.closed {
			t.Errorf("%d messages were begun, %d closed", r.box.opened, r.box.closed)
		}
	})
	return r
}

// serve serves a free port of loopback.
func (r *rig) serve(as func(net.Listener) net.Listener) string {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.Serve(as(l)) }()
	r.t.Cleanup(func() {
		l.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			r.t.Errorf("serving: %v", err)
		}
	})
	return l.Addr().String()
}

func (r *rig) hello() *smtptest.Client { r.t.Helper(); return smtptest.Hello(r.t, r.addr) }
func (r *rig) dial() *smtptest.Client  { r.t.Helper(); return smtptest.Dial(r.t, r.addr) }

// until waits for a condition that something brings about.
func (r *rig) until(what string, met func() bool) {
	r.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-limit.C:
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *rig) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

func (r *rig) admitted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
