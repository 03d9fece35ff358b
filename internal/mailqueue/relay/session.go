package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

var (
	errNotTaking = refusal(421, 4, 3, 2, notTaking[len("421 4.3.2 "):])
	errNotSigned = refusal(530, 5, 7, 0, "Sign in first, with a token of scope mail.")
	errNested    = refusal(503, 5, 5, 1, "There is a sender already; RSET begins anew.")
	errNoMessage = refusal(503, 5, 5, 1, "There is no sender or recipient.")
	errLoop      = refusal(554, 5, 4, 6, "The message is going in circles: it has more than 50 Received: lines.")
	errNoRoom    = refusal(452, 4, 3, 1, "There is no room for the message now; try again later.")
	errNotKept   = refusal(451, 4, 3, 0, "The message could not be stored; try again later.")
	errCutOff    = refusal(421, 4, 4, 2, "The message did not come to its end.")
)

// session is one conversation: what the library asks of whoever takes mail.
type session struct {
	server   *Server
	wire     *wire
	helo     string
	user     string // who signed in
	failures int    // to sign in
	from     string // the client's address

	mu  sync.Mutex // chunks are read by a goroutine of the library's
	env *envelope
}

// envelope is who sends to whom.
type envelope struct {
	sender     string
	recipients recipients
	utf8       bool
}

var _ smtp.AuthSession = (*session)(nil)

func (s *Server) session(c *smtp.Conn) (smtp.Session, error) {
	w := c.Conn().(*wire)
	return &session{server: s, wire: w, helo: c.Hostname(), from: w.address()}, nil
}

// Reset forgets a message that is not complete.
func (s *session) Reset() { s.set(nil) }

// Logout does nothing: a session holds nothing.
func (s *session) Logout() error { return nil }

func (s *session) set(e *envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env = e
}

func (s *session) envelope() *envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.env
}

// Mail begins a message.
func (s *session) Mail(from string, opts *smtp.MailOptions) error {
	if now, _ := s.server.state(); now != taking {
		return errNotTaking
	}
	if s.wire.needsAuth && s.user == "" {
		return errNotSigned
	}
	if s.envelope() != nil {
		return errNested
	}
	if opts.Size > s.server.o.MaxMessage {
		return s.server.tooLarge()
	}
	if from != "" {
		if err := checkAddress(from, opts.UTF8); err != nil {
			return err
		}
	}
	s.wire.fresh()
	s.set(&envelope{sender: from, utf8: opts.UTF8})
	return nil
}

func (s *Server) tooLarge() *smtp.SMTPError {
	return refusal(552, 5, 3, 4, "The message is larger than "+strconv.FormatInt(s.o.MaxMessage, 10)+" bytes.")
}

// Rcpt adds a recipient; the library has counted them.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	env := s.envelope()
	if env == nil {
		return errNoMessage
	}
	if err := checkAddress(to, env.utf8); err != nil {
		return err
	}
	env.recipients = append(env.recipients, recipient{Address: to})
	return nil
}

// Data takes the message itself, and returns when it is durable or refused.
func (s *session) Data(r io.Reader) error {
	env := s.envelope()
	if env == nil {
		return errNoMessage
	}
	s.server.receives(1)
	defer s.server.receives(-1)
	in := &incoming{server: s.server, spool: s.server.queue.codec.spool(s.server.queue.o.Dir)}
	defer in.spool.close()
	open, err := s.take(r, in)
	if err != nil {
		return err
	}
	in.head.close()
	if in.head.received > maxReceived {
		return errLoop
	}
	id, err := s.store(env, in.spool, &in.head, open)
	if err != nil {
		return s.server.refused(err)
	}
	s.server.queue.metrics.received.Inc()
	// The library has a reply of its own that names no message.
	return refusal(250, 2, 0, 0, "Queued as "+strconv.FormatInt(id, 10)+".")
}

// take reads the message. What stops it before its end, or is wrong with it,
// comes as an error; open is whether it ends in the middle of a line.
func (s *session) take(r io.Reader, in *incoming) (open bool, err error) {
	if s.wire.inText() {
		return false, s.wire.message(in)
	}
	_, err = io.Copy(in, r)
	var reply *smtp.SMTPError
	switch {
	case errors.As(err, &reply), errors.Is(err, smtp.ErrDataReset):
		return false, err
	case err != nil:
		return false, errCutOff
	}
	bad, open := s.wire.verdict()
	if bad != nil {
		return false, bad
	}
	return open, nil
}

// incoming is a message as it comes in.
type incoming struct {
	server *Server
	spool  *spool
	head   inspector
}

func (in *incoming) Write(p []byte) (int, error) {
	if in.spool.size+int64(len(p)) > in.server.o.MaxMessage {
		return 0, in.server.tooLarge()
	}
	in.head.Write(p)
	if _, err := in.spool.Write(p); err != nil {
		in.server.o.Log.Error("a message that came in could not be kept for the moment", "error", err)
		return 0, errNoRoom
	}
	return len(p), nil
}

// store commits the message.
func (s *session) store(env *envelope, spool *spool, head *inspector, open bool) (int64, error) {
	if spool.large() {
		s.server.large <- struct{}{}
		defer func() { <-s.server.large }()
	}
	body, pieces, err := spool.finish()
	if err != nil {
		return 0, fault.Wrap(err, fault.Unavailable, "The message could not be written.")
	}
	a := &arrival{
		job: job{
			sender: env.sender, trace: s.trace(env), size: spool.size, eightBit: head.eightBit,
			utf8: env.utf8 && needsUTF8(env, head), openEnd: open, recipients: env.recipients,
			turn: env.recipients.due(time.Time{}), body: body,
		},
		subject: head.subject, messageID: head.messageID, pieces: pieces,
	}
	if pieces == nil {
		a.plain = bytes.Clone(spool.raw)
	} else {
		a.body = []byte{}
	}
	err = s.server.queue.accept(context.Background(), a)
	return a.id, err
}

// needsUTF8 tells whether a message can only go where SMTPUTF8 is offered. A
// client that says so of every message has not thought about this one.
func needsUTF8(env *envelope, head *inspector) bool {
	need := head.utf8 || hasEightBit([]byte(env.sender))
	for _, r := range env.recipients {
		need = need || hasEightBit([]byte(r.Address))
	}
	return need
}

// diskFull is what PostgreSQL calls it.
const diskFull = "53100"

// refused turns the failure of a commit into a reply. What keeps SQLite from
// writing is its disk.
func (s *Server) refused(err error) error {
	s.o.Log.Error("a message was refused because it could not be stored", "error", err)
	var state interface{ SQLState() string }
	if s.queue.db.Dialect() == db.SQLite || errors.As(err, &state) && state.SQLState() == diskFull {
		return errNoRoom
	}
	return errNotKept
}

func (s *Server) receives(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receiving += n
}

// trace is the Received: line up to the id of the message: RFC 5321, 4.4, with
// the protocol's names of RFC 3848 and RFC 6531, 4.3.
func (s *session) trace(env *envelope) string {
	with := "SMTP"
	switch {
	case env.utf8:
		with = "UTF8SMTP"
	case s.wire.extended:
		with = "ESMTP"
	}
	if s.wire.secure {
		with += "S"
	}
	if s.user != "" {
		with += "A"
	}
	address := s.from
	if strings.Contains(address, ":") {
		address = "IPv6:" + address
	}
	return "Received: from " + token(s.helo) + " ([" + address + "])\r\n\tby " + token(s.server.o.Hostname) + " (Outrigger) with " + with
}

// address is the client's.
func (w *wire) address() string {
	host, _, err := net.SplitHostPort(w.RemoteAddr().String())
	if err != nil {
		return "127.0.0.1" // no network is between
	}
	return host
}

// AuthMechanisms are offered where clients must sign in.
func (s *session) AuthMechanisms() []string {
	if !s.wire.needsAuth {
		return nil
	}
	return []string{sasl.Plain, sasl.Login}
}
