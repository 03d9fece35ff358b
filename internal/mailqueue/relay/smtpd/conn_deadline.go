package smtpd

import (
	"errors"
	"io"
	"time"
)

// source is what the client says. Before it waits, the client is told what it
// has not heard yet: replies to commands that came together go together.
type source struct{ c *conn }

func (s source) Read(p []byte) (int, error) {
	if err := s.c.out.Flush(); err != nil {
		return 0, err
	}
	if err := s.c.setReadDeadline(); err != nil {
		return 0, err
	}
	began := time.Now()
	n, err := s.c.net.Read(p)
	if s.c.pace != nil {
		s.c.pace.waited += time.Since(began)
		s.c.pace.bytes += int64(n)
	}
	s.c.gone = s.c.gone || errors.Is(err, io.EOF)
	return n, err
}

// sink is what the client hears.
type sink struct{ c *conn }

func (s sink) Write(p []byte) (int, error) {
	s.c.net.SetWriteDeadline(time.Now().Add(writeTime))
	return s.c.net.Write(p)
}

var errStopping = errors.New("smtpd: the server is stopping")

func (c *conn) setReadDeadline() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted || c.idle && c.stopping {
		return errStopping
	}
	return c.net.SetReadDeadline(c.deadline(time.Now()))
}

// deadline is until when the next bytes must come.
func (c *conn) deadline(now time.Time) time.Time {
	if c.pace != nil {
		until := now.Add(c.pace.left())
		if c.patience > 0 {
			until = earlier(until, now.Add(c.patience))
		}
		return until
	}
	until := earlier(c.asked.Add(idleTime), c.lastMessage.Add(messageTime))
	if !c.begun {
		until = earlier(until, c.since.Add(beginTime))
	}
	if c.server.finishing.Load() && c.through() {
		until = earlier(until, c.asked.Add(quietTime))
	}
	return until
}

// through reports whether the client has begun a message, and none is coming in.
func (c *conn) through() bool { return c.begun && c.env == nil && c.chunk == nil }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// stop has an idle client sent away, and one that is busy when it is through.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	if c.idle {
		c.net.SetReadDeadline(time.Now())
	}
}

// finish has a client sent away that has sent what it had.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.through() {
		c.net.SetReadDeadline(c.asked.Add(quietTime))
	}
}

// interrupt has the client hear that the server stops, whatever it is about to
// say.
func (c *conn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping, c.interrupted = true, true
	c.net.SetReadDeadline(time.Now())
}

// cut ends the connection under whatever goes on.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.net.Close()
}

func (c *conn) waiting(idle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = idle
	if idle {
		c.asked = time.Now()
	}
}

func (c *conn) isStopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopping || c.server.finishing.Load()
}

func (c *conn) isInterrupted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interrupted
}
