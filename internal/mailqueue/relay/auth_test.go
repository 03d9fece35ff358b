package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// certificate is a server's, and what a client trusts for it.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	trusted := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"}
}

// users are those who may sign in, by name and password or token.
type users struct {
	known map[string]*identity.Principal
	err   error
}

func (u users) Basic(_ context.Context, user, password, addr string) (*identity.Principal, error) {
	if u.err != nil {
		return nil, u.err
	}
	if addr != "127.0.0.1" {
		return nil, fault.New(fault.Internal, "The address is %s.", addr)
	}
	if p := u.known[user+":"+password]; p != nil {
		return p, nil
	}
	return nil, identity.ErrUnauthenticated()
}

var someUsers = users{known: map[string]*identity.Principal{
	"ann:mail-token":    {Name: "ann", Token: 1, Scope: identity.Mail},
	"ann:all-token":     {Name: "ann", Token: 2, Scope: identity.All},
	"ann:read-token":    {Name: "ann", Token: 3, Scope: identity.Read},
	"ann:password":      {Name: "ann", Scope: identity.All},
	"ann:monitor-token": {Name: "ann", Token: 4, Scope: identity.Monitoring},
}}

// outward is a listener that says it is not on loopback.
type outward struct{ net.Listener }

func (outward) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25} }

// newOutward is a world whose relay can be reached from elsewhere.
func newOutward(t *testing.T, o setup) *world {
	t.Helper()
	w := newWorld(t, sqlite(t), o)
	w.addr = serve(t, func(l net.Listener) error {
		return w.server.plain.Serve(&entrance{Listener: outward{l}, server: w.server, needsAuth: !onLoopback(outward{l}.Addr())})
	})
	return w
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func plainAuth(user, password string) string {
	return "AUTH PLAIN " + b64("\x00"+user+"\x00"+password)
}

func TestAuth(t *testing.T) {
	w := newOutward(t, setup{noSend: true, server: func(o *ServerOptions) { o.Identity = someUsers }})
	for _, c := range []struct {
		name string
		do   func(*client)
	}{
		{"nobody", func(c *client) { c.ask("MAIL FROM:<a@example.com>", "530 5.7.0") }},
		{"PLAIN", func(c *client) { c.ask(plainAuth("ann", "mail-token"), "235"); c.send("a@b", []string{"c@d"}, letter) }},
		{"PLAIN in two lines", func(c *client) { c.ask("AUTH PLAIN", "334"); c.ask(b64("\x00ann\x00all-token"), "235") }},
		{"PLAIN as oneself", func(c *client) { c.ask("AUTH plain "+b64("ann\x00ann\x00mail-token"), "235") }},
		{"PLAIN as another", func(c *client) { c.ask("AUTH PLAIN "+b64("bob\x00ann\x00mail-token"), "535 5.7.8") }},
		{"LOGIN", func(c *client) {
			c.ask("AUTH LOGIN", "334 "+b64("Username:"))
			c.ask(b64("ann"), "334 "+b64("Password:"))
			c.ask(b64("mail-token"), "235")
		}},
		{"LOGIN with the name", func(c *client) {
			c.ask("AUTH LOGIN "+b64("ann"), "334 "+b64("Password:"))
			c.ask(b64("mail-token"), "235")
		}},
		{"twice", func(c *client) {
			c.ask(plainAuth("ann", "mail-token"), "235")
			c.ask(plainAuth("ann", "mail-token"), "503")
		}},
		{"a password", func(c *client) { c.ask(plainAuth("ann", "password"), "535 5.7.8") }},
		{"another scope", func(c *client) { c.ask(plainAuth("ann", "read-token"), "535 5.7.8") }},
		{"a monitor's", func(c *client) { c.ask(plainAuth("ann", "monitor-token"), "535 5.7.8") }},
		{"an unknown token", func(c *client) { c.ask(plainAuth("ann", "x"), "535 5.7.8") }},
		{"no name", func(c *client) { c.ask(plainAuth("", "mail-token"), "535 5.7.8") }},
		{"three times", func(c *client) {
			c.ask(plainAuth("ann", "x"), "535")
			c.ask(plainAuth("ann", "y"), "535")
			c.ask(plainAuth("ann", "z"), "421 4.7.0")
			if _, err := c.text.ReadLine(); err != io.EOF {
				c.t.Error("the connection goes on")
			}
		}},
		{"no base64", func(c *client) { c.ask("AUTH PLAIN !", "501 5.5.2") }},
		{"no mechanism", func(c *client) { c.ask("AUTH", "501 5.5.4") }},
		{"an unknown mechanism", func(c *client) { c.ask("AUTH CRAM-MD5", "504 5.7.4") }},
		{"too few parts", func(c *client) { c.ask("AUTH PLAIN "+b64("ann"), "501 5.5.2") }},
		{"given up", func(c *client) { c.ask("AUTH LOGIN", "334"); c.ask("*", "501") }},
		{"an answer that looks like a command", func(c *client) {
			c.ask("AUTH LOGIN", "334")
			c.ask("BDAT 100", "501")
			c.ask("NOOP", "250")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := hello(t, w.addr)
			c.do(conn)
		})
	}
	conn := dial(t, w.addr)
	conn.expect("220")
	if offers := conn.ask("EHLO client", "250"); !strings.Contains(offers, "\n250-AUTH PLAIN LOGIN\n") {
		t.Errorf("offers %q", offers)
	}
	w.sizes(1, 0)
	m, err := w.queue.Look(t.Context(), 1)
	if err != nil || !strings.Contains(string(m), " with ESMTPA id 1;") {
		t.Errorf("the message is %q, %v", m, err)
	}
}

func TestAuthWhileItCannotBeKnown(t *testing.T) {
	for err, want := range map[error]string{
		fault.New(fault.Unavailable, "The database does not answer."): "454 4.7.0",
		fault.New(fault.RateLimited, "Too often."):                    "454 4.7.0",
	} {
		w := newOutward(t, setup{noSend: true, server: func(o *ServerOptions) { o.Identity = users{err: err} }})
		hello(t, w.addr).ask(plainAuth("ann", "mail-token"), want)
	}
	w := newOutward(t, setup{noSend: true})
	hello(t, w.addr).ask(plainAuth("ann", "mail-token"), "535")
}

// within is STARTTLS and EHLO.
func within(c *client, config *tls.Config) {
	c.t.Helper()
	c.ask("STARTTLS", "220 2.0.0")
	conn := tls.Client(c.conn, config)
	if err := conn.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	c.conn, c.text = conn, textproto.NewConn(conn)
}

func TestSTARTTLS(t *testing.T) {
	server, trust := certificate(t)
	w := newOutward(t, setup{noSend: true, server: func(o *ServerOptions) { o.TLS, o.Identity = server, someUsers }})
	c := dial(t, w.addr)
	c.expect("220")
	if offers := c.ask("EHLO client", "250"); !strings.Contains(offers, "\n250-STARTTLS\n") || strings.Contains(offers, "AUTH") {
		t.Errorf("in the clear: %q", offers)
	}
	c.ask(plainAuth("ann", "mail-token"), "538 5.7.11")
	c.ask("STARTTLS now", "501 5.5.4")
	within(c, trust)
	c.ask("MAIL FROM:<a@b>", "503 5.5.1") // what was said before is forgotten
	if offers := c.ask("EHLO client", "250"); strings.Contains(offers, "STARTTLS") || !strings.Contains(offers, "AUTH PLAIN LOGIN") {
		t.Errorf("within TLS: %q", offers)
	}
	c.ask("STARTTLS", "503 5.5.1")
	c.ask(plainAuth("ann", "mail-token"), "235")
	c.send("a@b", []string{"c@d"}, letter)
	// The lines are looked at within TLS too.
	c.say(data + head + "a\n.\r\nb" + end)
	for _, want := range []string{"250", "250", "354", "554 5.6.0"} {
		c.expect(want)
	}
	c.ask("QUIT", "221")
	w.sizes(1, 0)
	m, err := w.queue.Look(t.Context(), 1)
	if err != nil || !strings.Contains(string(m), " with ESMTPSA id 1;") {
		t.Errorf("the message is %q, %v", m, err)
	}
	w.until("all to go", func() bool { w.server.mu.Lock(); defer w.server.mu.Unlock(); return w.server.clients == 0 })
}

// What is said in the clear behind STARTTLS counts as nothing said within TLS.
func TestSTARTTLSInjection(t *testing.T) {
	server, _ := certificate(t)
	w := newWorld(t, sqlite(t), setup{noSend: true, server: func(o *ServerOptions) { o.TLS = server }})
	c := hello(t, w.addr)
	c.say("STARTTLS\r\n" + mail)
	c.expect("503 5.5.1")
	if _, err := c.text.ReadLine(); err != io.EOF {
		t.Error("the connection goes on")
	}
	// The library takes this for STARTTLS too, since ſ in upper case is S.
	c = hello(t, w.addr)
	c.ask("ſTARTTLS", "501 5.5.4")
	c.ask("NOOP", "250")
	// A client that speaks no TLS then.
	c.ask("starttls", "220")
	c.say("NOOP\r\n\r\n\r\n")
	if rest, err := io.ReadAll(bufio.NewReader(c.conn)); err == nil && strings.Contains(string(rest), "250") {
		t.Errorf("it was answered %q", rest)
	}
	w.until("all to go", func() bool { w.server.mu.Lock(); defer w.server.mu.Unlock(); return len(w.server.wires) == 0 })
}

func TestOnLoopback(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1:25": true, "127.9.9.9:25": true, "[::1]:25": true, "[::ffff:127.0.0.1]:25": true,
		"0.0.0.0:25": false, "[::]:25": false, "10.0.0.1:25": false, "192.0.2.1:25": false} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		must(t, err)
		if onLoopback(a) != want {
			t.Errorf("%s: %v", addr, !want)
		}
	}
}
