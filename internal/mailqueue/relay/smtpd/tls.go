package smtpd

import (
	"context"
	"crypto/tls"
	"time"
)

// handshakeTime bounds the TLS handshake of a client.
const handshakeTime = 30 * time.Second

// startTLS goes on within TLS; everything that was said before is forgotten:
// RFC 3207, 4.2.
func (c *conn) startTLS(rest string) {
	switch {
	case c.server.o.TLS == nil:
		c.mistake(replyNotOffered)
		return
	case c.secure:
		c.mistake(replyTLSActive)
		return
	case rest != "":
		c.mistake(replyNoArgument)
		return
	case c.in.Buffered() > 0:
		// What came in the clear must not count as said within TLS.
		c.hangUp(replyTLSInject)
		return
	}
	c.say(220, "2.0.0 Ready to start TLS.")
	if c.out.Flush() != nil {
		c.closing = true
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	conn := tls.Server(c.net, c.server.o.TLS)
	c.net.SetDeadline(time.Time{})
	if err := conn.HandshakeContext(ctx); err != nil {
		c.closing, c.gone = true, true // nothing can be said any more
		return
	}
	c.mu.Lock()
	c.net = conn
	c.mu.Unlock()
	c.reset()
	c.secure, c.hello, c.extended, c.user = true, "", false, ""
}
