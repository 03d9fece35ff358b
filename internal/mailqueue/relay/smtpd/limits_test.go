package smtpd

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/mailqueue/relay/smtptest"
)

func TestTooManyClients(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxClients = 8 })
	one, two := r.hello(), r.hello()
	three := r.dial()
	three.Expect("421 4.3.2")
	if _, err := three.Text.ReadLine(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	one.Ask("QUIT", "221")
	r.until("a place", func() bool { return r.admitted() == 1 })
	r.hello()
	two.Ask("NOOP", "250")
}

// One address has a quarter of the places; what is idle there keeps no
// other address out.
func TestOneAddressHasAQuarter(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxClients = 40 })
	for range 10 {
		r.hello()
	}
	r.dial().Expect("421 4.3.2 Too many connections from your address")
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := from.DialContext(t.Context(), "tcp", r.addr)
	must(t, err)
	defer conn.Close()
	other := &smtptest.Client{T: t, Conn: conn, Text: textproto.NewConn(conn)}
	other.Expect("220")
	other.Ask("EHLO other", "250")
	other.Send("a@example.com", []string{"b@example.com"}, letter)
	for _, c := range []struct{ address, want string }{
		{"192.0.2.1", "192.0.2.1"}, {"2001:db8::1", "2001:db8::/64"}, {"2001:db8::ffff:2", "2001:db8::/64"}, {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
	} {
		if got := network(c.address); got != c.want {
			t.Errorf("%s counts as %s, want %s", c.address, got, c.want)
		}
	}
}

// What is sent beyond the limit is read for a while, so that the client hears
// why, and then no more.
func TestBeyondTheLimit(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxMessage = 64 << 10 })
	for name, begin := range map[string]string{"text": data, "a chunk": mail + rcpt + "BDAT 1000000000 LAST\r\n"} {
		c := r.hello()
		c.Say(begin)
		c.Expect("250")
		c.Expect("250")
		if name == "text" {
			c.Expect("354")
		}
		sent := 0
		for line := strings.Repeat("x", 1022) + "\r\n"; ; sent += len(line) {
			if _, err := c.Conn.Write([]byte(line)); err != nil {
				break
			}
			if sent > 100<<20 {
				t.Fatalf("%s: %d bytes beyond the limit were read", name, sent)
			}
		}
		r.until("the end", func() bool { return r.connections() == 0 })
	}
	if got := r.box.messages(); len(got) != 0 {
		t.Errorf("%d messages were taken", len(got))
	}
}

// A client that falls silent is sent away: before its first message after 60
// s, later after 5 min, and after 60 s in the middle of a message, of which
// nothing is kept.
func TestSilentClients(t *testing.T) {
	for _, c := range []struct {
		name, say string
		after     time.Duration
	}{
		{"at once", "", beginTime},
		{"in a command", "NOO", beginTime},
		{"in AUTH", "AUTH LOGIN\r\n", beginTime},
		{"behind a message", mail + "RSET\r\n", idleTime},
		{"in a message", data + "Subj", paceGrace},
		{"before the dot", data + head + "a\r\n", paceGrace},
		{"in a chunk", mail + rcpt + "BDAT 10 LAST\r\nabc", paceGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := &inbox{}
				s := New(Options{Hostname: "relay.example", MaxMessage: 1 << 20, MaxRecipients: 10, MaxClients: 10, Backend: box})
				s.Open()
				client, server := net.Pipe()
				s.start(server, false)
				begun := time.Now()
				go client.Write([]byte("EHLO x\r\n" + c.say))
				var last string
				for lines := bufio.NewScanner(client); lines.Scan(); {
					last = lines.Text()
				}
				if !strings.HasPrefix(last, "421 4.4.2") {
					t.Errorf("the last word is %q", last)
				}
				if took := time.Since(begun); took < c.after || took > c.after+time.Second {
					t.Errorf("it took %v, want %v", took, c.after)
				}
				must(t, s.Shutdown(t.Context()))
				if len(box.messages()) != 0 || box.opened != box.closed {
					t.Errorf("%d messages, %d begun, %d closed", len(box.messages()), box.opened, box.closed)
				}
			})
		})
	}
}

// What the backend says is what the client hears.
func TestCommitFails(t *testing.T) {
	r := newRig(t, nil)
	for err, want := range map[error]string{
		errors.New("no database"):                                     "451 4.3.0",
		&Reply{452, "4.3.1", "There is no room for the message now."}: "452 4.3.1",
	} {
		r.box.full = err
		c := r.hello()
		c.Say(data + head + end)
		for _, want := range []string{"250", "250", "354", want} {
			c.Expect(want)
		}
		c.Ask("NOOP", "250")
	}
}
