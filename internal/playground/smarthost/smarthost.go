// Package smarthost plays the server that all outgoing mail goes to: it takes
// messages and shows them, and defers, refuses or fails on demand.
package smarthost

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"outrigger/internal/playground/respond"
)

// Message is one that the smarthost has taken.
type Message struct {
	Number int64
	At     time.Time
	From   string // the envelope's
	To     []string
	Params string // behind the sender's address: SIZE=… BODY=…
	Data   []byte // as it was sent, the dots undoubled
	TLS    bool
	User   string // who signed in
}

// Options say what the smarthost is like. The zero value offers everything,
// wants no password and keeps 100 messages.
type Options struct {
	Offers   []string    // of EHLO, STARTTLS and AUTH apart; nil: all that it knows
	TLS      *tls.Config // offers STARTTLS
	User     string      // who may sign in; "": no sign-in needed
	Password string
	Keep     int // messages; 0: 100
	Clock    func() time.Time

	// React answers in the smarthost's place; nil, or a nil reaction: as the
	// mode has it.
	React func(Request) *Reaction
}

// offers is everything that the smarthost knows.
var offers = []string{"PIPELINING", "8BITMIME", "SMTPUTF8", "CHUNKING", "SIZE 0", "ENHANCEDSTATUSCODES"}

// Request is what the client said.
type Request struct {
	Session int    // counted from 1
	Verb    string // CONNECT, EHLO, MAIL, … "." for the end of a message, CLOSE for that of a session
	Line    string // the whole line, "" for CONNECT, "." and CLOSE
	Message *Message
}

// Reaction is an answer, and what happens behind it.
type Reaction struct {
	Reply string // "" answers nothing
	Then  Then
}

// Then is what happens behind an answer.
type Then int

const (
	GoOn       Then = iota
	HangUp          // the connection is closed
	FallSilent      // nothing is read or said any more
)

// Host is a smarthost.
type Host struct {
	o Options
	respond.Watchers

	mu       sync.Mutex
	mode     FaultMode
	password string
	count    int64
	sessions int
	messages []Message
	open     map[net.Conn]bool
	listener []net.Listener
	closed   bool
	running  sync.WaitGroup
}

// New makes a smarthost that accepts everything.
func New(o Options) *Host {
	if o.Offers == nil {
		o.Offers = offers
	}
	if o.Keep == 0 {
		o.Keep = 100
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Host{o: o, mode: Accepts, password: o.Password, open: make(map[net.Conn]bool)}
}

// Serve takes clients of l until Close.
func (h *Host) Serve(l net.Listener) error {
	h.mu.Lock()
	h.listener = append(h.listener, l)
	if h.closed {
		l.Close()
	}
	h.mu.Unlock()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if number := h.enter(conn); number > 0 {
			h.running.Go(func() {
				defer h.leave(conn)
				newSession(h, conn, number).run()
			})
		}
	}
}

// enter counts a session; 0 once the smarthost is closed.
func (h *Host) enter(conn net.Conn) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		conn.Close()
		return 0
	}
	h.open[conn] = true
	h.sessions++
	return h.sessions
}

func (h *Host) leave(conn net.Conn) {
	h.mu.Lock()
	delete(h.open, conn)
	h.mu.Unlock()
	conn.Close()
}

// Close ends every session.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	for _, l := range h.listener {
		l.Close()
	}
	for conn := range h.open {
		conn.Close()
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Messages are those that the smarthost keeps, the oldest first.
func (h *Host) Messages() []Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

// Count is how many messages it has taken.
func (h *Host) Count() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// Sessions is how many clients have connected.
func (h *Host) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions
}

// FaultMode is how it answers now.
func (h *Host) FaultMode() FaultMode {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mode
}

// SetFaultMode changes how it answers from now on. When it goes away, it leaves those
// who are connected too.
func (h *Host) SetFaultMode(m FaultMode) {
	if _, ok := faultModes[m]; !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mode = m
	if m == Away {
		for conn := range h.open {
			conn.Close()
		}
	}
	h.Changed()
}

// SetPassword has it want another password from now on.
func (h *Host) SetPassword(password string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.password = password
}

// keep takes a message.
func (h *Host) keep(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	m.Number, m.At = h.count, h.o.Clock()
	h.messages = append(h.messages, m)
	if len(h.messages) > h.o.Keep {
		h.messages = h.messages[len(h.messages)-h.o.Keep:]
	}
	h.Changed()
}

// react says how a request is answered: by React, else by the mode.
func (h *Host) react(r Request) *Reaction {
	if h.o.React != nil {
		if reaction := h.o.React(r); reaction != nil {
			return reaction
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return faultModes[h.mode].reaction(r)
}
