package relay

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-sasl"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// How the connection to the smarthost is encrypted.
const (
	StartTLS    = "starttls" // after STARTTLS, or not at all
	ImplicitTLS = "tls"      // from the first byte
	NoTLS       = "none"
)

// dialTime bounds opening a connection to the smarthost; commandTime its
// greeting and its answers to commands: RFC 5321, 4.5.3.2, lets it have 5 min.
const (
	dialTime    = 30 * time.Second
	commandTime = 5 * time.Minute
)

// Smarthost is the server that all mail goes to.
type Smarthost struct {
	Address  string // host:port
	User     string // "" does not sign in
	Password secret.Value
	TLS      string      // StartTLS, ImplicitTLS or NoTLS
	Config   *tls.Config // what to trust; nil is the system's certificates
	Hostname string      // what the relay calls itself

	// Dial opens a connection; nil is the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// connect opens a session that is ready for a message. What fails is told in a
// sentence; nothing of it is any message's fault.
func (h *Smarthost) connect(ctx context.Context) (*conversation, error) {
	dial := h.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	dialling, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := dial(dialling, "tcp", h.Address)
	if err != nil {
		return nil, h.wrong(err, "cannot be reached: %s", plain(err))
	}
	if h.TLS == ImplicitTLS {
		conn = tls.Client(conn, h.config())
	}
	c := newConversation(ctx, conn)
	if err := h.introduce(c); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// introduce goes from the greeting to where messages may begin.
func (h *Smarthost) introduce(c *conversation) error {
	if r, err := c.answer(commandTime); err != nil || r.code != 220 {
		return h.unwelcome("greeting", r, err)
	}
	if err := h.hello(c); err != nil {
		return err
	}
	if h.TLS == StartTLS {
		if err := h.startTLS(c); err != nil {
			return err
		}
	}
	if h.User == "" {
		return nil
	}
	return h.signIn(c)
}

// hello finds out what the smarthost offers.
func (h *Smarthost) hello(c *conversation) error {
	r, err := c.ask("EHLO " + h.Hostname)
	if err == nil && r.code >= 500 {
		if r, err = c.ask("HELO " + h.Hostname); err == nil && r.code == 250 {
			c.offers = nil
			return nil
		}
	}
	if err != nil || r.code != 250 {
		return h.unwelcome("EHLO", r, err)
	}
	c.offers = make(map[string]string)
	for _, line := range r.lines[1:] {
		name, value, _ := strings.Cut(line, " ")
		c.offers[strings.ToUpper(name)] = value
	}
	return nil
}

func (h *Smarthost) startTLS(c *conversation) error {
	if !c.offer("STARTTLS") {
		return h.wrong(nil, "offers no STARTTLS, and mail.smarthost_tls asks for it")
	}
	if r, err := c.ask("STARTTLS"); err != nil || r.code != 220 {
		return h.unwelcome("STARTTLS", r, err)
	}
	if err := c.encrypt(h.config()); err != nil {
		return h.wrong(err, "failed at TLS: %s", plain(err))
	}
	return h.hello(c)
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

// signIn shows name and password by the first way that both sides know.
func (h *Smarthost) signIn(c *conversation) error {
	var client sasl.Client
	switch offered := strings.Fields(strings.ToUpper(c.offers["AUTH"])); {
	case slices.Contains(offered, sasl.Plain):
		client = sasl.NewPlainClient("", h.User, h.Password.Reveal())
	case slices.Contains(offered, sasl.Login):
		client = &loginClient{answers: []string{h.User, h.Password.Reveal()}}
	default:
		return h.wrong(nil, "offers no way to sign in that is known here: PLAIN or LOGIN")
	}
	mechanism, first, err := client.Start()
	if err != nil {
		return h.wrong(err, "cannot be signed in to")
	}
	line := "AUTH " + mechanism
	if first != nil {
		line += " " + base64.StdEncoding.EncodeToString(first)
	}
	r, err := c.ask(line)
	for err == nil && r.code == 334 {
		var challenge, answer []byte
		if challenge, err = base64.StdEncoding.DecodeString(r.text()); err == nil {
			answer, err = client.Next(challenge)
		}
		if err == nil {
			r, err = c.ask(base64.StdEncoding.EncodeToString(answer))
		}
	}
	if err != nil || r.code != 235 {
		return h.unwelcome("AUTH", r, err)
	}
	return nil
}

// loginClient answers LOGIN's two questions in their order: servers word them
// in more ways than one.
type loginClient struct{ answers []string }

func (l *loginClient) Start() (string, []byte, error) { return sasl.Login, nil, nil }

func (l *loginClient) Next([]byte) ([]byte, error) {
	if len(l.answers) == 0 {
		return nil, sasl.ErrUnexpectedServerChallenge
	}
	answer := l.answers[0]
	l.answers = l.answers[1:]
	return []byte(answer), nil
}

// unwelcome is about an answer that is not the one that leads on.
func (h *Smarthost) unwelcome(what string, r reply, err error) error {
	if err != nil {
		return h.wrong(err, "did not answer %s: %s", what, plain(err))
	}
	return h.wrong(nil, "answered %s with %s", what, r)
}

func (h *Smarthost) wrong(err error, format string, args ...any) error {
	return fault.Wrap(err, fault.Unavailable, "The smarthost %s "+format+".", append([]any{h.Address}, args...)...)
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
