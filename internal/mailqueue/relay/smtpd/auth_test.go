package smtpd

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/mailqueue/relay/smtptest"
)

// certificate is a server's, and what a client trusts for it.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	trusted := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"}
}

// outward is a listener that says it is not on loopback.
type outward struct{ net.Listener }

func (outward) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25} }

// newOutward is a rig that can be reached from elsewhere.
func newOutward(t *testing.T, set func(*Options)) *rig {
	t.Helper()
	r := newRig(t, func(o *Options) {
		o.PlainAuth = true
		if set != nil {
			set(o)
		}
	})
	r.addr = r.serve(func(l net.Listener) net.Listener { return outward{l} })
	return r
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func plainAuth(user, password string) string {
	return "AUTH PLAIN " + b64("\x00"+user+"\x00"+password)
}

func TestAuth(t *testing.T) {
	r := newOutward(t, nil)
	for _, c := range []struct {
		name string
		do   func(*smtptest.Client)
	}{
		{"nobody", func(c *smtptest.Client) { c.Ask("MAIL FROM:<a@example.com>", "530 5.7.0") }},
		{"PLAIN", func(c *smtptest.Client) {
			c.Ask(plainAuth("ann", "mail-token"), "235")
			c.Send("a@b", []string{"c@d"}, letter)
		}},
		{"PLAIN in two lines", func(c *smtptest.Client) { c.Ask("AUTH PLAIN", "334"); c.Ask(b64("\x00ann\x00mail-token"), "235") }},
		{"PLAIN as oneself", func(c *smtptest.Client) { c.Ask("AUTH plain "+b64("ann\x00ann\x00mail-token"), "235") }},
		{"PLAIN as another", func(c *smtptest.Client) { c.Ask("AUTH PLAIN "+b64("bob\x00ann\x00mail-token"), "535 5.7.8") }},
		{"LOGIN", func(c *smtptest.Client) {
			c.Ask("AUTH LOGIN", "334 "+b64("Username:"))
			c.Ask(b64("ann"), "334 "+b64("Password:"))
			c.Ask(b64("mail-token"), "235")
		}},
		{"LOGIN with the name", func(c *smtptest.Client) {
			c.Ask("AUTH LOGIN "+b64("ann"), "334 "+b64("Password:"))
			c.Ask(b64("mail-token"), "235")
		}},
		{"twice", func(c *smtptest.Client) {
			c.Ask(plainAuth("ann", "mail-token"), "235")
			c.Ask(plainAuth("ann", "mail-token"), "503")
		}},
		{"an unknown token", func(c *smtptest.Client) { c.Ask(plainAuth("ann", "x"), "535 5.7.8") }},
		{"no name", func(c *smtptest.Client) { c.Ask(plainAuth("", "mail-token"), "535 5.7.8") }},
		{"three times", func(c *smtptest.Client) {
			c.Ask(plainAuth("ann", "x"), "535")
			c.Ask(plainAuth("ann", "y"), "535")
			c.Ask(plainAuth("ann", "z"), "421 4.7.0")
			if _, err := c.Text.ReadLine(); err != io.EOF {
				c.T.Error("the connection goes on")
			}
		}},
		{"no base64", func(c *smtptest.Client) { c.Ask("AUTH PLAIN !", "501 5.5.2") }},
		{"no mechanism", func(c *smtptest.Client) { c.Ask("AUTH", "501 5.5.4") }},
		{"an unknown mechanism", func(c *smtptest.Client) { c.Ask("AUTH CRAM-MD5", "504 5.5.4") }},
		{"too few parts", func(c *smtptest.Client) { c.Ask("AUTH PLAIN "+b64("ann"), "501 5.5.2") }},
		{"given up", func(c *smtptest.Client) { c.Ask("AUTH LOGIN", "334"); c.Ask("*", "501") }},
		{"an answer that looks like a command", func(c *smtptest.Client) {
			c.Ask("AUTH LOGIN", "334")
			c.Ask("BDAT 100", "501")
			c.Ask("NOOP", "250")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := r.hello()
			c.do(conn)
		})
	}
	conn := r.dial()
	conn.Expect("220")
	if offers := conn.Ask("EHLO client", "250"); !strings.Contains(offers, "AUTH PLAIN LOGIN") {
		t.Errorf("offers %q", offers)
	}
	if got := r.box.messages(); len(got) != 1 || got[0].env.User != "ann" || !got[0].env.Extended || got[0].env.TLS {
		t.Errorf("%d messages were taken", len(got))
	}
}

func TestAuthWhileItCannotBeKnown(t *testing.T) {
	r := newOutward(t, nil)
	r.box.err = errors.New("the database does not answer")
	c := r.hello()
	for range 5 { // it is no guess
		c.Ask(plainAuth("ann", "mail-token"), "454 4.7.0")
	}
}

// A token that is revoked while the connection is open begins no further message.
func TestTokenRevokedOnAnOpenConnection(t *testing.T) {
	r := newOutward(t, nil)
	c := r.hello()
	c.Ask(plainAuth("ann", "mail-token"), "235")
	c.Send("a@b", []string{"c@d"}, letter)
	r.box.signIns("mail-token", errors.New("the database does not answer"))
	c.Ask("MAIL FROM:<a@b>", "454 4.7.0")
	r.box.signIns("mail-token", nil)
	c.Send("a@b", []string{"c@d"}, letter)
	r.box.signIns("another-token", nil)
	c.Ask("MAIL FROM:<a@b>", "530 5.7.0")
	c.Ask(plainAuth("ann", "mail-token"), "535")
	c.Ask(plainAuth("ann", "another-token"), "235")
	c.Send("a@b", []string{"c@d"}, letter)
	if n := len(r.box.messages()); n != 3 {
		t.Errorf("%d messages were taken", n)
	}
}

// A token that is revoked while a message comes has it refused at its end; one that
// cannot be asked about then is to be tried again.
func TestTokenRevokedInAMessage(t *testing.T) {
	for name, end := range map[string]func(c *smtptest.Client, code string){
		"DATA": func(c *smtptest.Client, code string) {
			c.Ask("DATA", "354")
			c.Say(letter + ".\r\n")
			c.Expect(code)
		},
		"BDAT": func(c *smtptest.Client, code string) {
			c.Say(fmt.Sprintf("BDAT %d LAST\r\n%s", len(letter), letter))
			c.Expect(code)
		},
	} {
		r := newOutward(t, nil)
		c := r.hello()
		c.Ask(plainAuth("ann", "mail-token"), "235")
		begin := func() {
			c.Ask("MAIL FROM:<a@b>", "250")
			c.Ask("RCPT TO:<c@d>", "250")
		}
		begin()
		r.box.signIns("mail-token", errors.New("the database does not answer"))
		end(c, "454 4.7.0")
		r.box.signIns("mail-token", nil)
		begin()
		end(c, "250")
		begin()
		r.box.signIns("another-token", nil)
		end(c, "530 5.7.0")
		c.Ask("MAIL FROM:<a@b>", "530 5.7.0")
		c.Ask(plainAuth("ann", "another-token"), "235")
		begin()
		end(c, "250")
		if n := len(r.box.messages()); n != 2 {
			t.Errorf("%s: %d messages were taken", name, n)
		}
	}
}

// Without TLS, signing in is refused unless the network is trusted.
func TestAuthInTheClear(t *testing.T) {
	r := newOutward(t, func(o *Options) { o.PlainAuth = false })
	c := r.dial()
	c.Expect("220")
	if offers := c.Ask("EHLO client", "250"); strings.Contains(offers, "AUTH") {
		t.Errorf("offers %q", offers)
	}
	c.Ask(plainAuth("ann", "mail-token"), "538 5.7.11")
	c.Ask("MAIL FROM:<a@example.com>", "530 5.7.0")
}

// A wrong guess is logged with its address and its reply kept back; the third
// ends the session.
func TestWrongGuesses(t *testing.T) {
	var log bytes.Buffer
	r := newOutward(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	r.penalty = 20 * time.Millisecond
	began := time.Now()
	c := r.hello()
	c.Ask(plainAuth("ann", "x"), "535")
	c.Ask(plainAuth("ann", "y"), "535")
	c.Ask(plainAuth("ann", "z"), "421 4.7.0")
	if took := time.Since(began); took < 6*r.penalty {
		t.Errorf("three guesses took %v", took)
	}
	r.until("the end", func() bool { return r.connections() == 0 })
	if got := strings.Count(log.String(), `level=WARN msg="a mail client failed to sign in" address=127.0.0.1 user=ann`); got != 3 {
		t.Errorf("the log has %d of 3 guesses:\n%s", got, log.String())
	}
	if strings.Contains(log.String(), "token") {
		t.Error("the log has a token")
	}
}

func TestSTARTTLS(t *testing.T) {
	server, trust := certificate(t)
	r := newOutward(t, func(o *Options) { o.TLS, o.PlainAuth = server, false })
	c := r.dial()
	c.Expect("220")
	if offers := c.Ask("EHLO client", "250"); !strings.Contains(offers, "STARTTLS") || strings.Contains(offers, "AUTH") {
		t.Errorf("in the clear: %q", offers)
	}
	c.Ask(plainAuth("ann", "mail-token"), "538 5.7.11")
	c.Ask("STARTTLS now", "501 5.5.4")
	c.StartTLS(trust)
	c.Conn.SetDeadline(time.Now().Add(patience))
	c.Ask("MAIL FROM:<a@b>", "503 5.5.1") // what was said before is forgotten
	if offers := c.Ask("EHLO client", "250"); strings.Contains(offers, "STARTTLS") || !strings.Contains(offers, "AUTH PLAIN LOGIN") {
		t.Errorf("within TLS: %q", offers)
	}
	c.Ask("STARTTLS", "503 5.5.1")
	c.Ask(plainAuth("ann", "mail-token"), "235")
	c.Send("a@b", []string{"c@d"}, letter)
	// The lines are looked at within TLS too.
	c.Say(data + head + "a\n.\r\nb" + end)
	for _, want := range []string{"250", "250", "354", "554 5.6.0"} {
		c.Expect(want)
	}
	c.Ask("QUIT", "221")
	if got := r.box.messages(); len(got) != 1 || got[0].env.User != "ann" || !got[0].env.TLS {
		t.Errorf("%d messages were taken", len(got))
	}
	r.until("all to go", func() bool { return r.connections() == 0 })
}

// What is said in the clear behind STARTTLS counts as nothing said within TLS.
func TestSTARTTLSInjection(t *testing.T) {
	server, _ := certificate(t)
	r := newRig(t, func(o *Options) { o.TLS = server })
	c := r.hello()
	c.Say("STARTTLS\r\n" + mail)
	c.Expect("503 5.5.1")
	if _, err := c.Text.ReadLine(); err != io.EOF {
		t.Error("the connection goes on")
	}
	// ſ in upper case is S, but no S of a command.
	c = r.hello()
	c.Ask("ſTARTTLS", "500 5.5.2")
	c.Ask("NOOP", "250")
	// A client that speaks no TLS then.
	c.Ask("starttls", "220")
	c.Say("NOOP\r\n\r\n\r\n")
	if rest, err := io.ReadAll(bufio.NewReader(c.Conn)); err == nil && strings.Contains(string(rest), "250") {
		t.Errorf("it was answered %q", rest)
	}
	r.until("all to go", func() bool { return r.connections() == 0 })
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

// A new connection does not shorten the wait of an address that guesses, and
// others do not wait for it.
func TestGuessesOfAnAddress(t *testing.T) {
	r := newOutward(t, nil)
	r.penalty = 20 * time.Millisecond
	began := time.Now()
	for range 4 {
		c := r.hello()
		c.Ask(plainAuth("ann", "x"), "535")
		c.Ask("QUIT", "221")
	}
	if took := time.Since(began); took < 10*r.penalty { // 1+2+3+4
		t.Errorf("four guesses took %v", took)
	}
	if got := r.guesses.add("192.0.2.7"); got != 1 {
		t.Errorf("the first guess of another address is its number %d", got)
	}
	c := r.hello()
	c.Ask(plainAuth("ann", "mail-token"), "235")
}

// Guesses are forgotten after a while, and the wait has an end.
func TestGuessesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses()
		for range 40 {
			g.add("192.0.2.1")
		}
		if got := g.add("192.0.2.1"); got != maxGuessWait {
			t.Errorf("it counts %d", got)
		}
		<-time.After(guessMemory + time.Second)
		if got := g.add("192.0.2.2"); got != 1 || len(g.byNetwork) != 1 {
			t.Errorf("it counts %d, and keeps %d", got, len(g.byNetwork))
		}
	})
}
