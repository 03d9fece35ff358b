package rest

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// quietTime is how long a kept connection must have been idle to be closed: a
	// client that uses it more often sends a request before, and learns from the
	// answer that it is the last.
	quietTime = 250 * time.Millisecond
	// lookEvery is how often connections are looked at for that.
	lookEvery = 20 * time.Millisecond
	// lastMoment is how long a connection is still read after it was chosen to be
	// closed: a request that came at that moment is answered, on a busy machine too.
	lastMoment = 50 * time.Millisecond
)

// Finish accepts no more connections, and returns when those that are open have
// ended, or with the error of ctx. A request that has come is answered; each
// answer is to have the header Connection: close. Only a request that is on its
// way when an idle connection is closed is lost, as HTTP has it.
//
// http.Server.Shutdown closes idle connections without another look.
func (l *Listener) Finish(ctx context.Context) error {
	if err := l.Listener.Close(); err != nil {
		return err
	}
	// What was accepted at the last moment is among the open ones from here on.
	l.accepting.Lock()
	defer l.accepting.Unlock()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for l.leave() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// leave has the idle connections close, and counts those that are open.
func (l *Listener) leave() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := time.Now().Add(-quietTime).UnixNano()
	for c := range l.open {
		if !c.active.Load() && c.last.Load() < before {
			c.leaving.Store(true)
			_ = c.SetReadDeadline(time.Now()) // fails on closed connections only
		}
	}
	return len(l.open)
}

// lastRead is the read of a connection that leaves: what has come after all, or
// its end.
func (c *conn) lastRead(p []byte, failed error) (int, error) {
	if timeout, ok := failed.(net.Error); !ok || !timeout.Timeout() {
		return 0, failed
	}
	_ = c.SetReadDeadline(time.Now().Add(lastMoment))
	n, err := c.Conn.Read(p)
	if n == 0 || err != nil {
		return 0, io.EOF
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.touch()
	c.leaving.Store(false)
	_ = c.SetReadDeadline(time.Now().Add(headerTimeout))
	return n, nil
}

// noteState is the ConnState of a server.
func noteState(c net.Conn, state http.ConnState) {
	if own := ownConn(c); own != nil {
		own.active.Store(state == http.StateActive)
	}
}
