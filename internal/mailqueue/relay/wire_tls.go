package relay

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// handshakeTime bounds the TLS handshake of a client.
const handshakeTime = 30 * time.Second

// startTLS answers STARTTLS, and has a new connection of the library go on
// within TLS: RFC 3207, 4.2, wants everything before it forgotten.
func (w *wire) startTLS(command string) error {
	switch {
	case w.secure:
		w.say("503 5.5.1 TLS is active already.")
		return nil
	case len(command) != len("STARTTLS"):
		w.say("501 5.5.4 STARTTLS takes no parameters.")
		return nil
	case w.in.Buffered() > w.taken:
		// What came in the clear must not count as said within TLS.
		return w.dismiss("503 5.5.1 Nothing may be sent behind STARTTLS before its answer.")
	}
	w.say("220 2.0.0 Ready to start TLS.")
	w.closing = true
	if err := w.flush(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	conn := tls.Server(w.Conn, w.server.o.TLS)
	w.Conn.SetDeadline(time.Time{})
	if err := conn.HandshakeContext(ctx); err != nil {
		w.eof = true // nothing can be said any more
		return io.EOF
	}
	w.moved = w.server.carryOn(w, conn)
	return io.EOF
}

// handoff is a listener whose connections are those that went over to TLS.
type handoff struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandoff() *handoff {
	return &handoff{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// put is false once the listener is closed.
func (h *handoff) put(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is nobody's.
func (h *handoff) Addr() net.Addr { return &net.TCPAddr{} }
