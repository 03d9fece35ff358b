package smtpd

import (
	"errors"
	"os"
	"time"
)

// The pace of a message, and how long a connection may go without one. A
// connection has one of MaxClients places, so that a client that says a byte
// now and then keeps others out.
const (
	// paceRate is how many bytes a second must come of a message. Clients of a
	// relay are on the networks that it stands in; the slowest line that mail is
	// sent over today, a mobile one at its edge, has several times as much.
	paceRate = 1 << 10

	// paceGrace is how long a message may be behind that: a line that is gone for
	// a moment, a client that still computes.
	paceGrace = 60 * time.Second

	// messageTime is how long a connection may last between two messages,
	// whatever commands it says: twice what RFC 5321, 4.5.3.2.7, demands for a
	// single one.
	messageTime = 2 * idleTime
)

// pace is how fast a message comes. It is about the time that the server waits
// for the client; what the server takes to keep the message does not count.
type pace struct {
	waited time.Duration
	bytes  int64
}

// left is how long the server goes on waiting.
func (p *pace) left() time.Duration {
	return paceGrace + time.Duration(p.bytes)*time.Second/paceRate - p.waited
}

// beginPace has what comes from now on be part of a message.
func (c *conn) beginPace() {
	if c.pace == nil {
		c.pace = &pace{}
	}
}

// endPace has what comes from now on be commands.
func (c *conn) endPace() { c.pace = nil }

// cutOff is the reply to a message that ends before its end.
func (c *conn) cutOff(err error) *Reply {
	switch {
	case errors.Is(err, errStopping), errors.Is(err, os.ErrDeadlineExceeded) && c.isInterrupted():
		return replyStopping
	case errors.Is(err, os.ErrDeadlineExceeded):
		return replyTooSlow
	}
	return replyCutOff
}
