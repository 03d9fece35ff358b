// Package smtptest speaks SMTP line by line, for tests.
package smtptest

import (
	"crypto/tls"
	"net"
	"net/textproto"
	"strings"
	"time"
)

// T is what a Client needs of a test.
type T interface {
	Helper()
	Error(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Client is one connection to a server.
type Client struct {
	T    T
	Conn net.Conn
	Text *textproto.Conn
}

// patience is how long a server may take for everything that one client says.
const patience = time.Minute

// Dial connects to a server.
func Dial(t T, addr string) *Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return &Client{T: t, Conn: conn, Text: textproto.NewConn(conn)}
}

// Hello is Dial and EHLO.
func Hello(t T, addr string) *Client {
	t.Helper()
	c := Dial(t, addr)
	c.Expect("220")
	c.Ask("EHLO client.example", "250")
	return c
}

// Say sends raw bytes.
func (c *Client) Say(raw string) {
	c.T.Helper()
	if _, err := c.Conn.Write([]byte(raw)); err != nil {
		c.T.Fatalf("%v", err)
	}
}

// Expect reads one reply, which begins with want, and returns it.
func (c *Client) Expect(want string) string {
	c.T.Helper()
	var all []string
	for {
		line, err := c.Text.ReadLine()
		if err != nil {
			c.T.Fatalf("no reply, want %s: %v; heard %q", want, err, all)
		}
		all = append(all, line)
		if len(line) < 4 || line[3] == ' ' {
			break
		}
	}
	reply := strings.Join(all, "\n")
	if !strings.HasPrefix(reply, want) {
		c.T.Fatalf("got %q, want %s", reply, want)
	}
	return reply
}

// Ask sends a line and reads its reply.
func (c *Client) Ask(line, want string) string {
	c.T.Helper()
	c.Say(line + "\r\n")
	return c.Expect(want)
}

// Send sends one whole message, whose dots are doubled already.
func (c *Client) Send(from string, to []string, data string) {
	c.T.Helper()
	c.Ask("MAIL FROM:<"+from+">", "250")
	for _, one := range to {
		c.Ask("RCPT TO:<"+one+">", "250")
	}
	c.Ask("DATA", "354")
	c.Say(data + ".\r\n")
	c.Expect("250")
}

// StartTLS goes on within TLS.
func (c *Client) StartTLS(config *tls.Config) {
	c.T.Helper()
	c.Ask("STARTTLS", "220 2.0.0")
	conn := tls.Client(c.Conn, config)
	if err := conn.Handshake(); err != nil {
		c.T.Fatalf("%v", err)
	}
	c.Conn, c.Text = conn, textproto.NewConn(conn)
}
