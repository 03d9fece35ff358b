package smtpd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"outrigger/internal/mailqueue/relay/smtptest"
)

// Everything that is refused, and that nothing of it is taken. What is
// said goes in one packet, so that each case is pipelined too.
func TestRefusals(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxMessage, o.MaxRecipients = 1000, 3 })
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, say string
		want      []string // the replies behind that to EHLO
	}{
		// Out of order, and wrong in itself.
		{"no such command", "HALLO\r\nNOOP\r\n", []string{"500 5.5.2", "250"}},
		{"an empty line", "\r\nNOOP\r\n", []string{"500 5.5.2", "250"}},
		{"a command that is not offered", "EXPN list\r\n", []string{"502 5.5.1"}},
		{"RCPT first", rcpt, []string{"503 5.5.1"}},
		{"DATA first", "DATA\r\nNOOP\r\n", []string{"503 5.5.1", "250"}},
		{"DATA without recipients", mail + "DATA\r\n", []string{"250", "503 5.5.1"}},
		{"DATA with an argument", mail + rcpt + "DATA now\r\n", []string{"250", "250", "501 5.5.4"}},
		{"BDAT first", "BDAT 4\r\nNOOPNOOP\r\n", []string{"503 5.5.1", "250"}},
		{"BDAT without a size", mail + rcpt + "BDAT\r\n", []string{"250", "250", "501"}},
		{"BDAT with a word", mail + rcpt + "BDAT some\r\n", []string{"250", "250", "501 5.5.4"}},
		{"BDAT with a negative size", mail + rcpt + "BDAT -1\r\n", []string{"250", "250", "501 5.5.4"}},
		{"BDAT with more", mail + rcpt + "BDAT 1 LAST x\r\n", []string{"250", "250", "501 5.5.4"}},
		{"two senders", mail + mail, []string{"250", "503 5.5.1"}},
		{"AUTH where nobody need", "AUTH PLAIN AAAA\r\n", []string{"502"}},
		{"STARTTLS without a certificate", "STARTTLS\r\n", []string{"502"}},
		{"four mistakes", "A\r\nB\r\nC\r\nD\r\nNOOP\r\n", []string{"500", "500", "500", "500", "421 4.7.0", "EOF"}},

		// Addresses.
		{"no angle", "MAIL FROM:a b\r\n", []string{"501"}},
		{"no address", "MAIL FROM:<>x\r\n", []string{"555 5.5.4"}},
		{"no domain", "MAIL FROM:<a>\r\n", []string{"501"}},
		{"no local part", "MAIL FROM:<@example.com>\r\n", []string{"501"}},
		{"a domain that is none", "MAIL FROM:<a@b,c>\r\n", []string{"501 5.1.3"}},
		{"a literal that is none", mail + "RCPT TO:<b@[example]>\r\n", []string{"250", "501 5.1.3"}},
		{"a control character", mail + "RCPT TO:<b\x07@example.com>\r\n", []string{"250", "501 5.1.3"}},
		{"two at signs", mail + "RCPT TO:<a@b@c>\r\n", []string{"250", "501 5.1.3"}},
		{"a space that is not quoted", mail + "RCPT TO:<a b@c>\r\n", []string{"250", "501 5.1.3"}},
		{"a quote that does not end", mail + "RCPT TO:<\"a@b>\r\n", []string{"250", "501"}},
		{"another than postmaster without a domain", mail + "RCPT TO:<root>\r\n", []string{"250", "501 5.1.3"}},
		{"a long address", mail + "RCPT TO:<" + long + "@example.com>\r\n", []string{"250", "501 5.1.3"}},
		{"a foreign sender", "MAIL FROM:<ü@example.com>\r\n", []string{"553 5.6.7"}},
		{"a foreign recipient", mail + "RCPT TO:<ü@example.com>\r\n", []string{"250", "553 5.6.7"}},
		{"no UTF-8", "MAIL FROM:<\xff@example.com> SMTPUTF8\r\n", []string{"501 5.1.3"}},
		{"the null recipient", mail + "RCPT TO:<>\r\n", []string{"250", "501"}},

		// Parameters.
		{"an unknown parameter", "MAIL FROM:<a@example.com> COLOUR=blue\r\n", []string{"555 5.5.4"}},
		{"an unknown parameter of RCPT", mail + "RCPT TO:<b@example.com> COLOUR=blue\r\n", []string{"250", "555 5.5.4"}},
		{"DSN", mail + "RCPT TO:<b@example.com> NOTIFY=SUCCESS\r\n", []string{"250", "504 5.5.4"}},
		{"BINARYMIME", "MAIL FROM:<a@example.com> BODY=BINARYMIME\r\n", []string{"504 5.5.4"}},
		{"a size that is none", "MAIL FROM:<a@example.com> SIZE=big\r\n", []string{"501 5.5.4"}},

		// Limits.
		{"a size over the limit", "MAIL FROM:<a@example.com> SIZE=1001\r\n", []string{"552 5.3.4"}},
		{"a message over the limit", data + head + strings.Repeat("x\r\n", 330) + end + "NOOP\r\n", []string{"250", "250", "354", "552 5.3.4", "250"}},
		{"a chunk over the limit", mail + rcpt + "BDAT 1001 LAST\r\n" + strings.Repeat("x", 1001) + "NOOP\r\n", []string{"250", "250", "552 5.3.4", "250"}},
		{"chunks over the limit", mail + rcpt + "BDAT 600\r\n" + strings.Repeat("x\r\n", 200) + "BDAT 600 LAST\r\n" + strings.Repeat("x\r\n", 200) + "NOOP\r\n",
			[]string{"250", "250", "250", "552 5.3.4", "250"}},
		{"too many recipients", mail + rcpt + rcpt + rcpt + rcpt, []string{"250", "250", "250", "250", "452 4.5.3"}},
		{"a command that is too long", "NOOP " + strings.Repeat("x", 5000) + "\r\nNOOP\r\n", []string{"500 5.5.2", "EOF"}},
		{"a command without an end", "NOOP " + strings.Repeat("x", 9000), []string{"500 5.5.2", "EOF"}},

		// Bytes that others would read otherwise.
		{"a bare LF in a command", "NOOP\nNOOP\r\n", []string{"500 5.5.2", "EOF"}},
		{"a bare CR in a command", "NOOP x\rNOOP\r\n", []string{"500 5.5.2", "EOF"}},
		{"NUL in a command", "NOOP \x00\r\n", []string{"500 5.5.2", "EOF"}},
		{"NUL in an address", mail + "RCPT TO:<b\x00@example.com>\r\n", []string{"250", "500 5.5.2", "EOF"}},
		{"a bare LF", data + head + "a\nb" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"a bare CR", data + head + "a\rb" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CRLF . CR x", data + head + "a\r\n.\rx" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CR CRLF", data + head + "a\r\r\n" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"NUL", data + head + "a\x00b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"a line over the limit", data + head + strings.Repeat("x", 20000) + end + "NOOP\r\n", []string{"250", "250", "354", "552 5.3.4", "250"}},
		{"a bare LF in a chunk", mail + rcpt + "BDAT 4 LAST\r\na\nb\nNOOP\r\n", []string{"250", "250", "554 5.6.0", "250"}},
		{"a bare CR between chunks", mail + rcpt + "BDAT 2\r\na\rBDAT 2 LAST\r\nb\nNOOP\r\n", []string{"250", "250", "250", "554 5.6.0", "250"}},
		{"a CR at the end of a chunk", mail + rcpt + "BDAT 2 LAST\r\na\rNOOP\r\n", []string{"250", "250", "554 5.6.0", "250"}},
		{"NUL in a chunk", mail + rcpt + "BDAT 2 LAST\r\na\x00NOOP\r\n", []string{"250", "250", "554 5.6.0", "250"}},

		// Smuggling: what follows the false end is part of the message.
		{"LF . CRLF", data + head + "a\n.\r\n" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"LF . LF", data + head + "a\n.\n" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CRLF . LF", data + head + "a\r\n.\n" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CR . CR", data + head + "a\r.\r" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CR . CRLF", data + head + "a\r.\r\n" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CRLF . CR", data + head + "a\r\n.\r" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"CRLF NUL . CRLF", data + head + "a\r\n\x00.\r\n" + data + "b" + end + "NOOP\r\n", []string{"250", "250", "354", "554 5.6.0", "250"}},
		{"lines that end in LF only", strings.ReplaceAll(head, "\r", "") + "a\n.\n", []string{"500 5.5.2", "EOF"}},
		{"a message of LF only", data + strings.ReplaceAll(head, "\r", "") + "a\n.\n", []string{"250", "250", "354", "554 5.6.0", "EOF"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := r.hello()
			conn.Say(c.say)
			for _, want := range c.want {
				if want == "EOF" {
					if line, err := conn.Text.ReadLine(); err != io.EOF {
						t.Fatalf("got %q, %v; want the end", line, err)
					}
					return
				}
				conn.Expect(want)
			}
			conn.Ask("QUIT", "221")
		})
	}
	if got := r.box.messages(); len(got) != 0 {
		t.Errorf("%d messages were taken", len(got))
	}
}

// A long line comes in pieces, and what is wrong with it is found all the same.
func TestWrongLongLines(t *testing.T) {
	r := newRig(t, nil)
	long := strings.Repeat("x", readBuffer-1)
	for _, text := range []string{
		long + long + "\r" + long, long + "\r" + long, long + "x\r" + long, long + "\n.\r\n", long + "x\n.\r\n", long + "xx\n.\r\n", long + "\r\r\n", long + "\x00" + long,
	} {
		c := r.hello()
		c.Say(data + head + text + "x" + end + "NOOP\r\n")
		for _, want := range []string{"250", "250", "354", "554 5.6.0", "250"} {
			c.Expect(want)
		}
	}
}

// What is at the edge of being refused, and arrives as it is.
func TestTaken(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxMessage, o.MaxRecipients = 200_000, 3 })
	long, dots := strings.Repeat("x", 90_000), strings.Repeat(".", 90_000)
	for _, c := range []struct{ name, say, want string }{
		{"nothing", ".\r\n", ""},
		{"no header", "a\r\n.\r\n", "a\r\n"},
		{"dots", "..\r\n...\r\n..a\r\na.\r\n.\r\n", ".\r\n..\r\n.a\r\na.\r\n"},
		{"longer lines than RFC 5321 has", strings.Repeat("x", 8190) + "\r\n" + strings.Repeat("y", 8191) + "\r\n." + strings.Repeat("z", 10_000) + "\r\n.\r\n",
			strings.Repeat("x", 8190) + "\r\n" + strings.Repeat("y", 8191) + "\r\n" + strings.Repeat("z", 10_000) + "\r\n"},
		{"long lines", long + "\r\n." + long + "\r\n" + ".\r\n", long + "\r\n" + long + "\r\n"},
		{"a long line with dots in it", "." + dots + "\r\n." + dots + "\r\n" + ".\r\n", dots + "\r\n" + dots + "\r\n"},
		{"a long line in the header", "X: " + long + "\r\nSubject: y\r\n\r\n.\r\n", "X: " + long + "\r\nSubject: y\r\n\r\n"},
		{"8 bits", "\xff\x80\r\n.\r\n", "\xff\x80\r\n"},
		{"exactly the limit", strings.Repeat("12345678\r\n", 20_000) + ".\r\n", strings.Repeat("12345678\r\n", 20_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := r.hello()
			conn.Say("MAIL FROM:<> BODY=8BITMIME\r\n" + rcpt + rcpt + rcpt + "DATA\r\n")
			for _, want := range []string{"250", "250", "250", "250", "354"} {
				conn.Expect(want)
			}
			conn.Say(c.say)
			conn.Expect("250 2.0.0 Queued as ")
			messages := r.box.messages()
			if got := messages[len(messages)-1].data.String(); got != c.want {
				t.Errorf("it arrived as %q", got)
			}
		})
	}
}

func TestChunks(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct {
		name   string
		chunks []string
	}{
		{"one", []string{head + "a\r\n"}},
		{"several", []string{head, "a\r", "\nb\r\n", ".\r\n", ".c\r\n"}},
		{"an empty last one", []string{head + "a\r\n", ""}},
		{"nothing", []string{""}},
		{"no CRLF at the end", []string{head, "a"}},
		{"a command in it", []string{head + "\r\n.\r\nMAIL FROM:<x@example.com>\r\n"}},
		{"large", []string{head, strings.Repeat("0123456789\r\n", 100000), "a\r\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := r.hello()
			conn.Say(mail + rcpt)
			conn.Expect("250")
			conn.Expect("250")
			for i, chunk := range c.chunks {
				last := ""
				if i == len(c.chunks)-1 {
					last = " LAST"
				}
				conn.Say(fmt.Sprintf("BDAT %d%s\r\n%s", len(chunk), last, chunk))
				conn.Expect("250 2.0.0 ")
			}
			whole := strings.Join(c.chunks, "")
			messages := r.box.messages()
			last := messages[len(messages)-1]
			if got := last.data.String(); got != whole {
				t.Errorf("it arrived as %q", got[:min(len(got), 200)])
			}
			if want := whole != "" && !strings.HasSuffix(whole, "\r\n"); last.open != want {
				t.Errorf("it ends in the middle of a line: %v", last.open)
			}
			conn.Ask("QUIT", "221")
		})
	}
}

func TestEHLO(t *testing.T) {
	r := newRig(t, nil)
	c := r.dial()
	c.Expect("220 relay.example")
	offers := c.Ask("EHLO client", "250")
	for _, want := range []string{"PIPELINING", "8BITMIME", "SMTPUTF8", "CHUNKING", "SIZE 26214400", "ENHANCEDSTATUSCODES"} {
		if !strings.Contains(offers+"\n", want+"\n") {
			t.Errorf("%s is not offered in %q", want, offers)
		}
	}
	for _, not := range []string{"STARTTLS", "AUTH", "DSN", "BINARYMIME"} {
		if strings.Contains(offers, not) {
			t.Errorf("%s is offered in %q", not, offers)
		}
	}
	c.Ask("HELO client", "250")
	c.Send("", []string{`"john doe"@example.com`}, letter)
	c.Ask("VRFY b", "252")
	c.Send("", []string{"Postmaster"}, letter)
	c.Ask("QUIT", "221")
	got := r.box.messages()
	if len(got) != 2 || got[0].env.Recipients[0] != "john doe@example.com" || got[1].env.Recipients[0] != "Postmaster" || got[0].env.Extended {
		t.Errorf("%d messages were taken, the first with %+v", len(got), got[0].env)
	}
}

// A connection that is begun anew, given up in the middle or silent leaves
// nothing.
func TestNothingHalfStored(t *testing.T) {
	r := newRig(t, nil)
	c := r.hello()
	c.Say(mail + rcpt + "RSET\r\nDATA\r\n")
	for _, want := range []string{"250", "250", "250", "503"} {
		c.Expect(want)
	}
	c.Say(mail + rcpt + "EHLO again\r\nDATA\r\n")
	for _, want := range []string{"250", "250", "250", "503"} {
		c.Expect(want)
	}
	c.Say(mail + rcpt + "BDAT 5\r\nhelloRSET\r\n" + mail)
	for _, want := range []string{"250", "250", "250", "250", "250"} {
		c.Expect(want)
	}
	for _, unfinished := range []string{data + head, data + head + "a\r\n.", data + head + "a\r\n.\r", mail + rcpt + "BDAT 10 LAST\r\nabc", mail + rcpt + "BDAT 3\r\nabc"} {
		c := r.hello()
		c.Say(unfinished)
		c.Conn.Close()
	}
	r.until("all to go", func() bool { return r.connections() == 1 })
	if got := r.box.messages(); len(got) != 0 {
		t.Errorf("%d messages were taken", len(got))
	}
}

// A node that is not ready has clients wait; one that is drained sends them
// away, but for the message that is coming in.
func TestNotTaking(t *testing.T) {
	r := newRig(t, nil)
	r.move(starting)
	early := r.dial()
	r.Open()
	early.Expect("220")
	early.Ask("EHLO client", "250")
	early.Say(data)
	for _, want := range []string{"250", "250", "354"} {
		early.Expect(want)
	}
	between := r.hello()
	between.Ask("MAIL FROM:<a@example.com>", "250")
	r.Refuse()
	r.dial().Expect("421 4.3.2")
	early.Say(head + end)
	early.Expect("250")
	early.Ask("MAIL FROM:<a@example.com>", "421 4.3.2")
	if _, err := early.Text.ReadLine(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	r.Open()
	r.hello()
	if got := r.box.messages(); len(got) != 1 {
		t.Errorf("%d messages were taken", len(got))
	}
}

// Stopping waits for what is coming in, and says goodbye to the others.
func TestShutdown(t *testing.T) {
	box := &inbox{}
	s := New(Options{Hostname: "relay.example", MaxMessage: 1 << 20, MaxRecipients: 100, MaxClients: 40, Backend: box})
	s.Open()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	addr := l.Addr().String()
	idle, busy, stuck := smtptest.Hello(t, addr), smtptest.Hello(t, addr), smtptest.Hello(t, addr)
	for _, c := range []*smtptest.Client{busy, stuck} {
		c.Say(data)
		for _, want := range []string{"250", "250", "354"} {
			c.Expect(want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	through := make(chan error, 1)
	go func() { through <- s.Shutdown(ctx) }()
	idle.Expect("421 4.3.2")
	busy.Say(head + end)
	busy.Expect("250")
	busy.Expect("421 4.3.2")
	cancel()
	if err := <-through; err == nil {
		t.Error("a client that was cut off is not told of")
	}
	if _, err := stuck.Text.ReadLine(); err == nil {
		t.Error("a client goes on")
	}
	if got := box.messages(); len(got) != 1 {
		t.Errorf("%d messages were taken", len(got))
	}
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving: %v", err)
	}
}
