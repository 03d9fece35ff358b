package smtpd

import (
	"io"
	"strconv"
	"strings"
)

// chunked is a message that comes in chunks: RFC 3030, 2.
type chunked struct{ *incoming }

// bdat takes one chunk. Its bytes are read whatever is wrong, since the next
// command stands behind them.
func (c *conn) bdat(rest string) {
	size, last, ok := parseChunk(rest)
	if !ok {
		c.mistake(replyChunkValue)
		return
	}
	c.beginPace() // until the last chunk has come, whatever is between them
	if c.env == nil || len(c.env.Recipients) == 0 {
		c.skip(size)
		c.endPace()
		c.mistake(replyNoMessage)
		return
	}
	if c.chunk == nil {
		c.server.receives(1)
		c.chunk = &chunked{newIncoming(c)}
	}
	m := c.chunk.incoming
	if cut := c.readChunk(m, size); cut != nil {
		c.reset()
		c.refuse(cut)
		return
	}
	if last && m.bad == nil {
		m.bad = m.text.end()
	}
	switch {
	case m.bad != nil, last:
		c.commit(m, m.text.open)
	default:
		c.say(250, "2.0.0 "+strconv.FormatInt(size, 10)+" bytes were taken.")
		return
	}
	c.reset()
}

// parseChunk reads a number of bytes and the word LAST.
func parseChunk(rest string) (size int64, last, ok bool) {
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 || len(fields) == 2 && upper(fields[1]) != "LAST" {
		return 0, false, false
	}
	n, err := strconv.ParseUint(fields[0], 10, 63)
	return int64(n), len(fields) == 2, err == nil
}

// readChunk passes a chunk to the message; cut is the reply where it did not come
// whole.
func (c *conn) readChunk(m *incoming, size int64) (cut *Reply) {
	for size > 0 {
		if _, err := c.in.Peek(1); err != nil {
			c.closing = true
			return c.cutOff(err)
		}
		piece, _ := c.in.Peek(int(min(size, int64(c.in.Buffered()))))
		m.take(piece)
		size -= int64(len(piece))
		c.in.Discard(len(piece))
		if m.bad != nil {
			c.skip(size)
			return nil
		}
	}
	return nil
}

// skip reads what is left of a chunk, unless that is more than a client may
// say in vain.
func (c *conn) skip(size int64) {
	if size > lingerBytes {
		c.closing = true
		return
	}
	if _, err := io.CopyN(io.Discard, c.in, size); err != nil {
		c.closing = true
	}
}

// endChunks forgets a message that comes in chunks.
func (c *conn) endChunks() {
	if c.chunk == nil {
		return
	}
	c.endPace()
	c.chunk.msg.Close()
	c.chunk = nil
	c.server.receives(-1)
}
