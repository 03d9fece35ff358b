package smtpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// How the connection to the smarthost is encrypted.
const (
	StartTLS    = "starttls" // after STARTTLS, or not at all
	ImplicitTLS = "tls"      // from the first byte
	NoTLS       = "none"
)

// dialTime bounds opening a connection to the smarthost, which a kernel would
// try for minutes.
const dialTime = 30 * time.Second

// Smarthost is the server that all mail goes to.
type Smarthost struct {
	Address  string // host:port
	User     string // "" does not sign in
	Password secret.Value
	TLS      string      // StartTLS, ImplicitTLS or NoTLS
	Config   *tls.Config // what to trust; nil is the system's certificates
	Hostname string      // what we call ourselves

	// Token returns the token to sign in with, in place of Password; nil: there
	// are none. Refused hears of one that the smarthost refused.
	Token   func(ctx context.Context) (secret.Value, error)
	Refused func(token secret.Value)

	// Trace hears of each step when it begins, with "", and of what came of it; nil:
	// nothing does.
	Trace func(step, answer string)

	// Dial opens a connection; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Connect opens a session that is ready for a message and is closed when ctx
// ends. An error is fault.Unavailable with a sentence that names the smarthost.
// A token that is refused may have been withdrawn: another one is tried, once.
func (h *Smarthost) Connect(ctx context.Context) (*Session, error) {
	s, err := h.open(ctx)
	if errors.Is(err, errTokenRefused) {
		s, err = h.open(ctx)
	}
	return s, err
}

func (h *Smarthost) open(ctx context.Context) (*Session, error) {
	h.trace("connect", "")
	dial := h.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	dialling, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := dial(dialling, "tcp", h.Address)
	if err != nil {
		return nil, h.failed(err, "cannot be reached: %s", plain(err))
	}
	h.trace("connect", conn.RemoteAddr().String())
	s := newSession(ctx, conn)
	if err := h.introduce(ctx, s); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// introduce goes from the connection to where messages may begin.
func (h *Smarthost) introduce(ctx context.Context, s *Session) error {
	if h.TLS == ImplicitTLS {
		if err := h.encrypt(s); err != nil {
			return err
		}
	}
	h.trace("greeting", "")
	switch r, err := s.answer(commandTime); {
	case err != nil:
		return h.failed(err, "did not greet: %s", plain(err))
	case r.Code != 220:
		return h.failed(nil, "greeted with %s", r)
	default:
		h.trace("greeting", r.String())
	}
	if err := h.hello(s); err != nil {
		return err
	}
	if h.TLS == StartTLS {
		if err := h.startTLS(s); err != nil {
			return err
		}
	}
	if h.User == "" {
		return nil
	}
	if h.Token != nil {
		return h.signInByToken(ctx, s)
	}
	return h.signIn(s)
}

func (h *Smarthost) trace(step, answer string) {
	if h.Trace != nil {
		h.Trace(step, answer)
	}
}

// hello finds out what the smarthost offers.
func (h *Smarthost) hello(s *Session) error {
	h.trace("EHLO", "")
	r, err := s.ask("EHLO " + h.Hostname)
	if err == nil && r.Code >= 500 {
		if r, err = s.ask("HELO " + h.Hostname); err == nil && r.Code == 250 {
			s.offers = nil
			h.trace("EHLO", r.String())
			return nil
		}
	}
	if err != nil || r.Code != 250 {
		return h.unwelcome("EHLO", r, err)
	}
	s.offers = make(map[string]string)
	for _, line := range r.Lines[1:] {
		name, value, _ := strings.Cut(line, " ")
		s.offers[strings.ToUpper(name)] = value
	}
	h.trace("EHLO", r.String())
	return nil
}

func (h *Smarthost) startTLS(s *Session) error {
	h.trace("STARTTLS", "")
	if !s.offer("STARTTLS") {
		return h.failed(nil, "offers no STARTTLS, and mail.smarthost_tls asks for it")
	}
	r, err := s.ask("STARTTLS")
	if err != nil || r.Code != 220 {
		return h.unwelcome("STARTTLS", r, err)
	}
	h.trace("STARTTLS", r.String())
	if err := h.encrypt(s); err != nil {
		return err
	}
	return h.hello(s)
}

func (h *Smarthost) encrypt(s *Session) error {
	h.trace("TLS", "")
	state, err := s.encrypt(h.config())
	if err != nil {
		return h.failed(err, "failed at TLS: %s", plain(err))
	}
	cert := state.PeerCertificates[0]
	h.trace("TLS", fmt.Sprintf("%s, certificate of %s until %s",
		tls.VersionName(state.Version), cmp.Or(strings.Join(cert.DNSNames, ", "), cert.Subject.String()),
		cert.NotAfter.UTC().Format(time.DateOnly)))
	return nil
}

func (h *Smarthost) config() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if h.Config != nil {
		config = h.Config.Clone()
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(h.Address)
	}
	return config
}

// unwelcome is about an answer that is not the one that leads on.
func (h *Smarthost) unwelcome(what string, r Reply, err error) error {
	if err != nil {
		return h.failed(err, "did not answer %s: %s", what, plain(err))
	}
	return h.failed(nil, "answered %s with %s", what, r)
}

// Complain is a sentence about the smarthost, which it begins with.
func (h *Smarthost) Complain(format string, args ...any) string {
	return fmt.Sprintf("The smarthost %s "+format+".", append([]any{h.Address}, args...)...)
}

func (h *Smarthost) failed(err error, format string, args ...any) error {
	return fault.Wrap(err, fault.Unavailable, "%s", h.Complain(format, args...))
}

// plain says what happened to a connection without quoting addresses twice.
func plain(err error) string {
	var op *net.OpError
	var timeout net.Error
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
