package smtpd

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"time"
)

// data takes a message behind DATA.
func (c *conn) data(rest string) {
	switch {
	case rest != "":
		c.mistake(replyNoArgument)
		return
	case c.chunk != nil:
		c.mistake(replyInChunks)
		return
	case c.env == nil || len(c.env.Recipients) == 0:
		c.mistake(replyNoMessage)
		return
	}
	c.server.receives(1)
	defer c.server.receives(-1)
	m := newIncoming(c)
	defer m.msg.Close()
	c.say(354, "Send the message; a dot on a line of its own ends it.")
	c.beginPace()
	cut := c.readText(m)
	c.endPace()
	c.env = nil
	if cut != nil {
		c.refuse(cut)
		return
	}
	c.commit(m, false)
}

// commit has a message stored that has come to its end, if who sends it may still.
func (c *conn) commit(m *incoming, open bool) {
	c.lastMessage = time.Now()
	if m.bad == nil {
		m.bad = c.signedInStill()
	}
	if m.bad != nil {
		c.refuse(m.bad)
		return
	}
	said, err := m.msg.Commit(open)
	if err != nil {
		c.refuse(replyOf(err))
		return
	}
	c.say(250, "2.0.0 "+said)
}

// readText reads a message to where it ends for every reader, CRLF . CRLF,
// whatever else is in it; cut is the reply where there is no such end.
func (c *conn) readText(m *incoming) (cut *Reply) {
	defer func() { c.patience = 0 }()
	begins := true // a line begins here, behind CRLF
	for {
		piece, err := c.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			// A client that falls silent in a message that is refused may think that
			// it has said everything: it hears why.
			c.closing = true
			if m.bad != nil {
				return nil
			}
			return c.cutOff(err)
		}
		if begins && string(piece) == ".\r\n" {
			return nil
		}
		next := bytes.HasSuffix(piece, []byte("\r\n")) || m.text.cr && string(piece) == "\n"
		if begins {
			piece = bytes.TrimPrefix(piece, []byte(".")) // RFC 5321, 4.5.2
		}
		begins = next
		m.take(piece)
		if m.bad != nil && c.patience == 0 {
			c.patience = c.server.silence
		}
		if m.discarded > lingerBytes {
			c.closing = true
			return nil
		}
	}
}

// incoming is a message on its way to the backend.
type incoming struct {
	conn      *conn
	msg       Message
	text      text
	size      int64
	bad       *Reply // the first thing that is wrong with it
	discarded int64  // bytes behind that
}

func newIncoming(c *conn) *incoming {
	env := *c.env
	env.Hello = strings.ToValidUTF8(env.Hello, "?")
	return &incoming{conn: c, msg: c.server.o.Backend.Receive(env)}
}

// take passes the next bytes to the backend, unless something is wrong.
func (m *incoming) take(p []byte) {
	if m.bad != nil {
		m.discarded += int64(len(p))
		return
	}
	m.size += int64(len(p))
	m.bad = m.text.check(p)
	switch {
	case m.bad != nil:
	case m.size > m.conn.server.o.MaxMessage:
		m.bad = m.conn.tooLarge()
	default:
		if _, err := m.msg.Write(p); err != nil {
			m.bad = replyOf(err)
		}
	}
}
