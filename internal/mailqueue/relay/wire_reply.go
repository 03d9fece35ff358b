package relay

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// corrections are replies of the library with other codes than RFC 5321 (4.2
// and 4.3.2: commands out of order; 4.1.1.11: unknown parameters) and RFC 4954
// (section 6) have for them.
var corrections = []struct{ code, text, proper string }{
	{"501 5.5.2 ", "Bad command", "500 5.5.2 "},
	{"502 5.5.1 ", "Please introduce", "503 5.5.1 "},
	{"502 5.5.1 ", "Missing", "503 5.5.1 "},
	{"502 5.5.1 ", "MAIL not allowed", "503 5.5.1 "},
	{"502 5.5.1 ", "RCPT not allowed", "503 5.5.1 "},
	{"502 5.5.1 ", "DATA not allowed", "503 5.5.1 "},
	{"500 5.5.4 ", "Unknown MAIL FROM", "555 5.5.4 "},
	{"500 5.5.4 ", "Unknown RCPT TO", "555 5.5.4 "},
	{"500 5.5.4 ", "Malformed AUTH", "501 5.5.4 "},
	{"502 5.5.4 ", "Missing parameter", "501 5.5.4 "},
	{"523 5.7.10 ", "", "538 5.7.11 "},
	{"454 4.7.0 ", "Invalid base64", "501 5.5.2 "},
	{"454 4.7.0 ", "sasl:", "501 5.5.2 "},
}

// Write takes the library's replies, which it gives line by line.
func (w *wire) Write(p []byte) (int, error) {
	if w.buffers == nil {
		return 0, net.ErrClosed
	}
	for line := range bytes.Lines(p) {
		w.reply(string(line))
	}
	return len(p), nil
}

// reply notes what the client will hear.
func (w *wire) reply(line string) {
	if !w.greeted {
		w.greeted = true
		if w.silent {
			return
		}
		if why := w.server.turnAway(w); why != "" {
			w.say(why)
			return
		}
	}
	for _, c := range corrections {
		if text, ok := strings.CutPrefix(line, c.code); ok && strings.HasPrefix(text, c.text) {
			line = c.proper + text
			break
		}
	}
	if line == "250-SIZE\r\n" {
		line = "250-SIZE " + strconv.FormatInt(w.server.o.MaxMessage, 10) + "\r\n"
	}
	w.put(line)
}

// say gives a reply of our own.
func (w *wire) say(line string) { w.put(line + "\r\n") }

func (w *wire) put(line string) {
	if len(line) >= 4 && line[3] == ' ' {
		code, _ := strconv.Atoi(line[:3])
		w.code.Store(int32(code))
		w.closing = w.closing || code == 421 || code == 221
		if code >= 400 {
			w.server.queue.metrics.refused.WithLabelValues(line[:3]).Inc()
		}
	}
	w.out.WriteString(line)
}

// dismiss answers and ends the conversation.
func (w *wire) dismiss(line string) error {
	w.say(line)
	w.closing = true
	return io.EOF
}

// flush sends what the client has not heard yet.
func (w *wire) flush() error {
	if w.out.Buffered() == 0 {
		return nil
	}
	w.Conn.SetWriteDeadline(time.Now().Add(writeTime))
	return w.out.Flush()
}

// Close ends the connection, unless it goes on within TLS. Only the library
// calls it, and more than once.
func (w *wire) Close() error {
	if !w.server.forget(w) {
		return nil
	}
	defer w.release()
	if w.moved {
		return nil
	}
	if w.flush() == nil && !w.eof && w.code.Load() != 221 {
		w.linger()
	}
	return w.Conn.Close()
}

// release gives the buffers back.
func (w *wire) release() {
	w.server.buffers.Put(w.buffers)
	w.buffers, w.in, w.out, w.pending = nil, nil, nil, nil
}

// linger reads on for a moment: closing with bytes unread resets the
// connection, and what was said last is lost.
func (w *wire) linger() {
	half, ok := w.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	w.Conn.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, w.Conn, lingerBytes)
}
