package smtpd

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// idleTime is how long a client may say nothing: RFC 5321, 4.5.3.2.7.
	idleTime = 5 * time.Minute

	// beginTime is how long a connection may last before its first MAIL, so that
	// idle ones keep the places of others for no longer.
	beginTime = 60 * time.Second

	// quietTime is how long a client that has sent a message may ask nothing while
	// another process waits to accept clients: it may have more.
	quietTime = 250 * time.Millisecond

	// writeTime is how long a client may take to read a reply.
	writeTime = time.Minute

	// silenceTime is how long the rest of a message that is refused may stay
	// away: a client whose lines end otherwise thinks that it said everything.
	silenceTime = 2 * time.Second

	// lingerTime and lingerBytes bound what is still read from a client that is
	// sent away, so that it sees why before the connection is reset, and what is
	// read of a message beyond the limit.
	lingerTime  = time.Second
	lingerBytes = 1 << 20

	// maxCommand is the longest command line. RFC 5321 has 512 bytes, more with
	// extensions; a line of AUTH with a token in it is below 1,000.
	maxCommand = 4 << 10

	// readBuffer holds a command, or several lines of a message.
	readBuffer = 8 << 10

	// replyBuffer holds the longest reply, that to EHLO.
	replyBuffer = 1 << 10

	// maxMistakes is how many commands of a connection may be wrong.
	maxMistakes = 3
)

// conn is one client.
type conn struct {
	server    *Server
	net       net.Conn // of TLS, once it is secure
	in        *bufio.Reader
	out       *bufio.Writer
	since     time.Time
	asked     time.Time // when it was last waited for a command
	address   string
	needsAuth bool // the listener is not on loopback
	secure    bool // within TLS

	hello    string // what the client calls itself; empty before HELO and EHLO
	extended bool   // it said EHLO
	user     string // who signed in
	shown    credentials
	guesses  int // that were wrong
	mistakes int

	lastMessage time.Time // when the last one came to its end, or else the connection began

	begun    bool          // there was a MAIL
	pace     *pace         // of the message that comes in; nil: none does
	patience time.Duration // for the rest of a message that is refused; 0 is the usual one
	closing  bool          // no more commands are read
	gone     bool          // the client has closed the connection, or is about to

	env   *Envelope // nil: no sender
	chunk *chunked  // nil: no message in chunks

	mu          sync.Mutex
	idle        bool // waiting for a command
	stopping    bool
	interrupted bool // also in the middle of a message
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, net: nc, since: time.Now(), lastMessage: time.Now(), address: clientAddress(nc)}
	c.in = bufio.NewReaderSize(source{c}, readBuffer)
	c.out = bufio.NewWriterSize(sink{c}, replyBuffer)
	return c
}

func clientAddress(nc net.Conn) string {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return "127.0.0.1" // no network is between
	}
	return host
}

// serve answers the commands of the client until the session ends.
func (c *conn) serve() {
	defer c.close()
	defer func() {
		if p := recover(); p != nil {
			c.server.o.Log.Error("a mail client's session failed", "panic", fmt.Sprint(p), "address", c.address)
		}
	}()
	if full := c.server.admit(c.address); full != nil {
		c.refuse(full)
		return
	}
	defer c.server.dismiss(c.address)
	if early := c.server.awaitStart(); early != nil {
		c.refuse(early)
		return
	}
	c.say(220, c.server.o.Hostname+" ESMTP Outrigger")
	for !c.closing {
		line, ok := c.readCommand()
		if ok {
			c.do(line)
		}
	}
}

// close ends the connection; the client hears what was said last.
func (c *conn) close() {
	c.endChunks()
	if c.out.Flush() == nil && !c.gone {
		c.linger()
	}
	c.cut()
}

// linger reads on for a moment: closing with bytes unread resets the
// connection, and what was said last is lost.
func (c *conn) linger() {
	under := c.net
	if t, ok := under.(*tls.Conn); ok {
		t.CloseWrite()
		under = t.NetConn()
	}
	half, ok := under.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	under.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, under, lingerBytes)
}

// readCommand reads one command without its CRLF; false is that the
// conversation is over.
func (c *conn) readCommand() (string, bool) {
	c.waiting(true)
	line, err := c.in.ReadSlice('\n')
	c.waiting(false)
	switch {
	case errors.Is(err, bufio.ErrBufferFull), len(line) > maxCommand:
		return c.hangUp(replyLongCommand)
	case errors.Is(err, errStopping), errors.Is(err, os.ErrDeadlineExceeded) && c.isStopping():
		return c.hangUp(replyStopping)
	case errors.Is(err, os.ErrDeadlineExceeded) && c.pace != nil:
		return c.hangUp(replyTooSlow)
	case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(c.lastMessage) >= messageTime:
		return c.hangUp(replyNoMessages)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.hangUp(replyIdle)
	case err != nil:
		c.closing = true
		return "", false
	}
	text, proper := bytes.CutSuffix(line, []byte("\r\n"))
	switch {
	case !proper || bytes.IndexByte(text, '\r') >= 0:
		return c.hangUp(replyLineEnd)
	case bytes.IndexByte(text, 0) >= 0:
		return c.hangUp(replyNULCommand)
	}
	return string(text), true
}

func (c *conn) hangUp(r *Reply) (string, bool) {
	c.refuse(r)
	c.closing = true
	return "", false
}

// say writes a reply of one line or several.
func (c *conn) say(code int, lines ...string) {
	for i, line := range lines {
		separator := " "
		if i < len(lines)-1 {
			separator = "-"
		}
		fmt.Fprintf(c.out, "%d%s%s\r\n", code, separator, line)
	}
}

// refuse writes a reply from 400 on.
func (c *conn) refuse(r *Reply) {
	c.server.o.Refused(r.Code)
	c.logRefusal(r)
	c.say(r.Code, r.Enhanced+" "+r.Text)
	c.closing = c.closing || r.Code == 421
}

// logRefusal logs it, but for the ordinary end of a connection that is kept for
// later and for wrong guesses, each of which has a line of its own.
func (c *conn) logRefusal(r *Reply) {
	switch {
	case r == replyIdle, r == replyStopping, r.Code == 535:
	default:
		c.server.refused.add(c.address, r)
	}
}

// mistake refuses a command that no client should say; a few end the
// conversation.
func (c *conn) mistake(r *Reply) {
	c.refuse(r)
	if c.mistakes++; c.mistakes > maxMistakes {
		c.refuse(replyMistakes)
	}
}

// replyOf is what the client hears of an error.
func replyOf(err error) *Reply {
	var r *Reply
	if errors.As(err, &r) {
		return r
	}
	return replyTransient
}

// word is the first word of a line in upper case, and the rest.
func word(line string) (verb, rest string) {
	verb, rest, _ = strings.Cut(line, " ")
	return upper(verb), rest
}

// upper changes ASCII letters only: ſ is no S here.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}
