package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"outrigger/internal/identity"
)

const (
	// patience is how long a client waits for a start: as long as webhooks do.
	patience = 10 * time.Second

	// largeAtOnce bounds the messages above 64 KiB that are committed at the
	// same time, each of which is in memory as a whole then.
	largeAtOnce = 2
)

// Authenticator tells who shows a user name with a password or a token:
// *identity.Service.
type Authenticator interface {
	Basic(ctx context.Context, user, password, addr string) (*identity.Principal, error)
}

// ServerOptions say what a Server needs.
type ServerOptions struct {
	Hostname      string // what it calls itself in greetings and Received: lines
	MaxMessage    int64  // bytes
	MaxRecipients int    // of a message
	MaxClients    int    // connections at a time
	TLS           *tls.Config
	Identity      Authenticator // who may sign in where that is needed; nil: nobody
	Log           *slog.Logger  // nil: nobody is told
}

// Server takes messages in by SMTP. It says nothing to clients, for at most
// 10 s, until Open is called.
type Server struct {
	o       ServerOptions
	queue   *Queue
	plain   *smtp.Server // the library's, for connections as they come
	within  *smtp.Server // and for those that went over to TLS
	upgrade *handoff
	silence time.Duration
	large   chan struct{}
	buffers sync.Pool

	mu        sync.Mutex
	phase     phase
	moved     chan struct{} // closed when the phase changes
	wires     map[*wire]bool
	clients   int
	receiving int
}

// phase is whether the server takes mail.
type phase int

const (
	starting phase = iota
	taking
	closed
)

// NewServer makes a server that fills q. It accepts nobody before Serve.
func NewServer(q *Queue, o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		o: o, queue: q, upgrade: newHandoff(), silence: silenceTime, large: make(chan struct{}, largeAtOnce),
		moved: make(chan struct{}), wires: make(map[*wire]bool),
	}
	s.plain, s.within = s.library(), s.library()
	s.within.AllowInsecureAuth = true // it is not: the library does not see the TLS below it
	s.plain.AllowInsecureAuth = o.TLS == nil
	if o.TLS != nil {
		s.plain.TLSConfig = &tls.Config{GetConfigForClient: refuseTLS} // so that it offers STARTTLS, which wire answers
	}
	return s
}

func (s *Server) library() *smtp.Server {
	l := smtp.NewServer(smtp.BackendFunc(s.session))
	l.Domain = s.o.Hostname
	l.MaxRecipients = s.o.MaxRecipients
	l.MaxLineLength = 0   // wire looks at the lines,
	l.MaxMessageBytes = 0 // and the session at the size: the library refuses a message of exactly the limit
	l.EnableSMTPUTF8 = true
	l.ErrorLog = libraryLog{s.o.Log}
	return l
}

// refuseTLS is for handshakes of the library's own, which there are none of.
func refuseTLS(*tls.ClientHelloInfo) (*tls.Config, error) {
	return nil, errors.New("relay: TLS is below the library")
}

// libraryLog is the library's log: clients that went away, and panics.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Printf(format string, args ...any) {
	level := slog.LevelDebug
	if strings.HasPrefix(format, "panic") {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, "SMTP: "+fmt.Sprintf(format, args...))
}

func (l libraryLog) Println(args ...any) { l.Printf("%s", fmt.Sprint(args...)) }

// Serve takes clients of l until Shutdown, and closes it then. Unless l is on
// loopback, clients must sign in.
func (s *Server) Serve(l net.Listener) error {
	within := make(chan error, 1)
	go func() { within <- s.within.Serve(s.upgrade) }()
	err := s.plain.Serve(&entrance{Listener: l, server: s, needsAuth: !onLoopback(l.Addr())})
	s.upgrade.Close()
	if other := <-within; err == nil && !errors.Is(other, net.ErrClosed) {
		err = other
	}
	return err
}

func onLoopback(a net.Addr) bool {
	if a.Network() == "unix" || a.Network() == "pipe" {
		return true
	}
	address, err := netip.ParseAddrPort(a.String())
	return err == nil && address.Addr().Unmap().IsLoopback()
}

// entrance puts a wire below each connection.
type entrance struct {
	net.Listener
	server    *Server
	needsAuth bool
}

func (e *entrance) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := newWire(e.server, c)
	w.needsAuth = e.needsAuth
	e.server.remember(w)
	return w, nil
}

func newWire(s *Server, c net.Conn) *wire {
	b, ok := s.buffers.Get().(*buffers)
	if ok {
		b.in.Reset(c)
		b.out.Reset(c)
	} else {
		b = &buffers{bufio.NewReaderSize(c, wireBuffer), bufio.NewWriterSize(c, replyBuffer)}
	}
	return &wire{Conn: c, server: s, buffers: b, in: b.in, out: b.out}
}

// remember counts a client.
func (s *Server) remember(w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.excess = s.clients >= s.o.MaxClients
	if !w.excess {
		s.clients++
	}
	s.wires[w] = true
}

// forget counts it no longer; false when that was done before.
func (s *Server) forget(w *wire) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wires[w] {
		return false
	}
	delete(s.wires, w)
	if !w.excess && !w.moved {
		s.clients--
	}
	return true
}

// carryOn gives a client that went over to TLS to another connection of the
// library, which greets nobody and knows nothing of what was said before.
func (s *Server) carryOn(from *wire, c net.Conn) bool {
	w := newWire(s, c)
	w.secure, w.silent, w.needsAuth = true, true, from.needsAuth
	s.mu.Lock()
	s.wires[w] = true // in the place of the other
	s.mu.Unlock()
	if s.upgrade.put(w) {
		return true
	}
	s.mu.Lock()
	delete(s.wires, w)
	s.mu.Unlock()
	return false
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

// taken says whether mail is taken now, and when that may change.
func (s *Server) state() (phase, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase, s.moved
}

// turnAway is the greeting for a client that is not let in; the others wait
// for a start.
func (s *Server) turnAway(w *wire) string {
	if w.excess {
		return "421 4.3.2 There are too many connections; try again in a moment."
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		now, moved := s.state()
		switch now {
		case taking:
			return ""
		case closed:
			return notTaking
		}
		select {
		case <-moved:
		case <-timer.C:
			return notTaking
		}
	}
}

const notTaking = "421 4.3.2 This node takes no mail now; try again later."

// Receiving counts the messages that are coming in now.
func (s *Server) Receiving() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiving
}

// Shutdown takes no more clients and sends those away that ask nothing. It
// waits for messages that are coming in until ctx ends, and then cuts the rest
// off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Refuse()
	through := make(chan error, 2)
	for _, l := range [...]*smtp.Server{s.plain, s.within} {
		go func() { through <- l.Shutdown(ctx) }()
	}
	s.mu.Lock()
	for w := range s.wires {
		w.stop()
	}
	s.mu.Unlock()
	err := errors.Join(<-through, <-through)
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.wires {
		w.Conn.Close()
	}
	if errors.Is(err, smtp.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
