// Package smtpd takes mail in by SMTP: RFC 5321 with PIPELINING (RFC 2920),
// SIZE (1870), ENHANCEDSTATUSCODES (2034), CHUNKING (3030), STARTTLS (3207), AUTH
// (4954), 8BITMIME (6152) and SMTPUTF8 (6531).
//
// Lines end in CRLF and in nothing else: a bare CR or LF is refused wherever it
// stands, so that no message can be smuggled in another one. Not a byte of a
// message is changed.
package smtpd

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Envelope is who sends a message to whom, and how it came.
type Envelope struct {
	Sender     string   // without angle brackets and quotes; empty for the null sender
	Recipients []string // likewise, at least one
	UTF8       bool     // the client said SMTPUTF8
	Hello      string   // what the client calls itself
	Extended   bool     // it said EHLO
	Address    string   // its IP address
	TLS        bool
	User       string // who signed in; empty without AUTH
}

// Backend stores what comes in.
type Backend interface {
	// SignIn tells whose token that is; it is asked again when a message begins and
	// when it has come. An error that is a *Reply is answered as it is and counts as
	// a wrong guess, another as 454.
	SignIn(ctx context.Context, user, token, address string) (name string, err error)
	// Receive begins a message.
	Receive(Envelope) Message
}

// Message is one that comes in. An error that is a *Reply is what the client
// hears; another is 451.
type Message interface {
	// Write takes the next bytes. After an error none follow.
	Write(p []byte) (int, error)
	// Commit makes the message durable and gives the text of the reply, such as
	// "Queued as 17." open is whether it ends in the middle of a line.
	Commit(open bool) (text string, err error)
	// Close is called once, whatever happened before.
	Close()
}

// Options say what a Server needs.
type Options struct {
	Hostname      string // what it calls itself
	MaxMessage    int64  // bytes
	MaxRecipients int    // of a message
	MaxClients    int    // connections at a time; one address has at most a quarter
	TLS           *tls.Config
	PlainAuth     bool // signing in without TLS is allowed: the network is trusted
	Backend       Backend
	Refused       func(code int) // called for each reply from 400 on; may be nil
	Log           *slog.Logger   // nil: nothing is logged
}

// Server takes messages in. It says nothing to clients, for at most 10 s,
// until Open is called.
type Server struct {
	o       Options
	silence time.Duration // silenceTime, or less in a test
	penalty time.Duration // guessPenalty, or less in a test
	guesses *guesses
	refused *refusalLog

	finishing atomic.Bool

	mu        sync.Mutex
	phase     phase
	moved     chan struct{} // closed when the phase changes
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	clients   map[string]int // by address, those that are let in
	total     int            // of clients
	receiving int
	running   sync.WaitGroup // clients, and Serve, which may have accepted one more
}

// phase is whether the server takes mail.
type phase int

const (
	starting phase = iota
	taking
	closed
)

// New makes a server. It accepts no clients before Serve.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Refused == nil {
		o.Refused = func(int) {}
	}
	return &Server{
		o: o, silence: silenceTime, penalty: guessPenalty, guesses: newGuesses(), refused: newRefusalLog(o.Log),
		moved:     make(chan struct{}),
		listeners: map[net.Listener]bool{}, conns: map[*conn]bool{}, clients: map[string]int{},
	}
}

// Serve takes clients of l until Shutdown, and closes it then. Unless l is on
// loopback, clients must sign in.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.listeners == nil {
		s.mu.Unlock()
		l.Close()
		return net.ErrClosed
	}
	s.listeners[l] = true
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()
	needsAuth := !onLoopback(l.Addr())
	for pause := firstAcceptPause; ; {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = firstAcceptPause
			s.start(c, needsAuth)
		case s.stopped():
			return net.ErrClosed
		case isTemporary(err):
			s.o.Log.Warn("mail clients cannot be accepted for the moment", "error", err)
			time.Sleep(pause)
			pause = min(2*pause, longestAcceptPause)
		default:
			return err
		}
	}
}

// Too many open files, say: the pauses between attempts to accept.
const (
	firstAcceptPause   = 5 * time.Millisecond
	longestAcceptPause = time.Second
)

func isTemporary(err error) bool {
	t, ok := err.(interface{ Temporary() bool })
	return ok && t.Temporary()
}

func (s *Server) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listeners == nil
}

// start serves a client on a goroutine of its own.
func (s *Server) start(nc net.Conn, needsAuth bool) {
	c := newConn(s, nc)
	c.needsAuth = needsAuth
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	s.running.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		}()
		c.serve()
	})
}

func onLoopback(a net.Addr) bool {
	if a.Network() == "unix" || a.Network() == "pipe" {
		return true
	}
	address, err := netip.ParseAddrPort(a.String())
	return err == nil && address.Addr().Unmap().IsLoopback()
}

// Open has mail taken from now on: the node is ACTIVE.
func (s *Server) Open() { s.move(taking) }

// Refuse answers 421 from now on: the node is drained, or about to stop.
func (s *Server) Refuse() { s.move(closed) }

func (s *Server) move(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != p {
		s.phase = p
		close(s.moved)
		s.moved = make(chan struct{})
	}
}

// state says whether mail is taken now, and when that may change.
func (s *Server) state() (phase, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase, s.moved
}

// Receiving counts the messages that are coming in now.
func (s *Server) Receiving() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiving
}

func (s *Server) receives(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receiving += n
}

// Finish accepts no more clients: others accept on their listeners. It returns
// when those that are there are gone, or after limit; one that has sent what it
// had and is idle for quietTime is sent away.
func (s *Server) Finish(limit time.Duration) {
	s.finishing.Store(true)
	s.mu.Lock()
	s.closeListeners()
	for c := range s.conns {
		c.finish()
	}
	s.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.ended():
	case <-timer.C:
	}
}

// closeListeners has Serve return. s.mu is held.
func (s *Server) closeListeners() {
	for l := range s.listeners {
		l.Close()
	}
	s.listeners = nil
}

// ended is closed when no client is served any more.
func (s *Server) ended() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	return done
}

// lastWord is how long before the end of a shutdown clients in the middle of a
// message hear that it ends.
const lastWord = 200 * time.Millisecond

// Shutdown takes no more clients and sends those away that ask nothing. It
// waits for messages that are coming in until ctx ends, and then cuts the rest
// off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Refuse()
	defer s.refused.flush()
	s.mu.Lock()
	s.closeListeners()
	for c := range s.conns {
		c.stop()
	}
	s.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		defer time.AfterFunc(time.Until(deadline)-lastWord, func() { s.each((*conn).interrupt) }).Stop()
	}
	done := s.ended()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.each((*conn).cut)
	<-done
	return ctx.Err()
}

func (s *Server) each(do func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		do(c)
	}
}
