// Package smtpclient sends mail to one server, the smarthost, over sessions
// that are kept for many messages: RFC 5321, with SIZE (RFC 1870), enhanced
// status codes (RFC 2034), CHUNKING (RFC 3030), STARTTLS (RFC 3207), AUTH (RFC
// 4954), SCRAM-SHA-256 (RFC 7677), OAUTHBEARER (RFC 7628), 8BITMIME (RFC 6152), SMTPUTF8 (RFC 6531) and PIPELINING (RFC 2920).
//
// It reports every answer as it came. What an answer means for a message is for
// the caller to decide.
package smtpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"time"
)

const (
	// commandTime is how long an answer to a command, or the greeting, may take:
	// RFC 5321, 4.5.3.2.
	commandTime = 5 * time.Minute

	// quitTime is how long the answer to QUIT is waited for.
	quitTime = time.Second

	// lastWordsTime is how long an answer may take that was sent before the
	// connection broke. It is on its way, or lost.
	lastWordsTime = time.Second

	// outBuffer holds what goes in one packet: a whole pipeline of commands, or a
	// part of a message.
	outBuffer = 16 << 10
)

// Session is a connection to the smarthost that is ready for messages. One
// goroutine uses it at a time.
type Session struct {
	conn   net.Conn
	in     *bufio.Reader
	out    *bufio.Writer
	offers map[string]string // of EHLO, by keyword
	used   int               // messages sent
	open   bool              // a transaction was begun and not ended
	block  []byte            // what content passes through

	encrypted   bool
	refuseToken func() // has the token that it is signed in with not be used again; nil: there is none

	letGo func() bool // of the context that interrupts it
}

// newSession is closed when ctx ends.
func newSession(ctx context.Context, conn net.Conn) *Session {
	s := &Session{}
	s.over(conn)
	s.Until(ctx)
	return s
}

// Until has the session be closed when ctx ends, and no longer when the context
// of Connect does.
func (s *Session) Until(ctx context.Context) {
	if s.letGo != nil {
		s.letGo()
	}
	conn := s.conn
	s.letGo = context.AfterFunc(ctx, func() { conn.Close() })
}

func (s *Session) over(conn net.Conn) {
	s.conn, s.in, s.out = conn, bufio.NewReaderSize(conn, maxReplyLine), bufio.NewWriterSize(conn, outBuffer)
}

// encrypt goes on within TLS; what was heard before is forgotten, as RFC 3207,
// 4.2, demands.
func (s *Session) encrypt(config *tls.Config) (tls.ConnectionState, error) {
	conn := tls.Client(s.conn, config)
	s.conn.SetDeadline(time.Now().Add(commandTime))
	if err := conn.Handshake(); err != nil {
		return tls.ConnectionState{}, err
	}
	s.over(conn)
	s.encrypted = true
	return conn.ConnectionState(), nil
}

// RefuseSignIn notes that the smarthost takes nothing from who is signed in here,
// and reports whether another sign-in may change that: by another token.
func (s *Session) RefuseSignIn() bool {
	if s.refuseToken == nil {
		return false
	}
	s.refuseToken()
	return true
}

// Used is how many messages the session had.
func (s *Session) Used() int { return s.used }

// offer reports whether the smarthost has an extension.
func (s *Session) offer(keyword string) bool {
	_, ok := s.offers[keyword]
	return ok
}

// say writes a command without waiting for its answer.
func (s *Session) say(line string) {
	s.out.WriteString(line)
	s.out.WriteString("\r\n") // an error of either comes again at the flush
}

// ask says a command and waits for its answer.
func (s *Session) ask(line string) (Reply, error) {
	s.say(line)
	return s.answer(commandTime)
}

// answer reads the next answer, having sent all that was said. A smarthost that
// closes the connection in the middle of a pipeline breaks our writing before
// we have read why: what it said is read all the same.
func (s *Session) answer(patience time.Duration) (Reply, error) {
	if s.out.Buffered() > 0 || s.in.Buffered() == 0 {
		s.conn.SetDeadline(time.Now().Add(patience))
	}
	if s.out.Buffered() > 0 {
		if broken := s.out.Flush(); broken != nil {
			s.conn.SetReadDeadline(time.Now().Add(lastWordsTime))
			if r, err := readReply(s.in); err == nil {
				return r, nil
			}
			return Reply{}, broken
		}
	}
	return readReply(s.in)
}

// Quit ends the session in good order (RFC 5321, 4.1.1.10). It waits a little for the
// answer: until then a smarthost that limits connections counts this one.
func (s *Session) Quit() {
	s.say("QUIT")
	s.conn.SetDeadline(time.Now().Add(quitTime))
	if s.out.Flush() == nil {
		_, _ = readReply(s.in) // nothing depends on it
	}
	s.Close()
}

// Close ends the session at once.
func (s *Session) Close() {
	s.letGo()
	s.conn.Close()
}
