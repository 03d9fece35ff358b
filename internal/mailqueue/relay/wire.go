package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	// idleTime is how long a client may say nothing: RFC 5321, 4.5.3.2.7.
	idleTime = 5 * time.Minute

	// writeTime is how long a client may take to read a reply.
	writeTime = time.Minute

	// silenceTime is how long the rest of a message that is refused may stay
	// away: a client whose lines end otherwise thinks that it said everything.
	silenceTime = 2 * time.Second

	// lingerTime and lingerBytes bound what is still read from a client that
	// is sent away, so that it sees why before the connection is reset.
	lingerTime  = time.Second
	lingerBytes = 1 << 20

	// maxCommand is the longest command line. RFC 5321 has 512 bytes, more
	// with extensions; a line of AUTH with a token in it is below 1,000.
	maxCommand = 4 << 10

	// wireBuffer holds a command, or several lines of a message.
	wireBuffer = 8 << 10

	// replyBuffer holds the longest reply, that to EHLO.
	replyBuffer = 1 << 10
)

// mode is what the client's next bytes are.
type mode int

const (
	commands mode = iota
	text          // a message
	chunk         // of BDAT
)

// wire is a client's connection below the SMTP library, which reads message
// data one byte at a time and loosely: it lets a bare LF through, and drops the
// dot and the CR of CRLF . CR before anything above can see them. So every byte
// is checked here. The library is given one command at a time, and what comes
// behind DATA not at all: it finds an end at once, and the session takes the
// message from here.
//
// STARTTLS is answered here too, since this must stand between it and the
// library: the rest of the conversation is a new connection of the library's.
type wire struct {
	net.Conn
	server    *Server
	buffers   *buffers // nil once it is closed
	in        *bufio.Reader
	out       *bufio.Writer
	secure    bool // within TLS
	needsAuth bool // the listener is not loopback
	extended  bool // it said EHLO
	excess    bool // there are too many clients

	mode    mode
	pending []byte // checked, for the library; it lies in the buffer of in
	taken   int    // how much of that buffer it is
	rest    int64  // of a chunk
	lines   lines
	bad     *smtp.SMTPError // what is wrong with the chunks
	code    atomic.Int32    // of the last reply; chunks are read by a goroutine of the library's
	greeted bool
	silent  bool // the greeting was said before TLS
	closing bool // nothing more is read
	eof     bool // the client has gone, or said goodbye
	moved   bool // another wire has the connection

	mu       sync.Mutex
	idle     bool // waiting for a command
	stopping bool
}

// buffers are what a wire reads and writes through: many clients open a
// connection for each message.
type buffers struct {
	in  *bufio.Reader
	out *bufio.Writer
}

// errStopping is for a client that asks nothing while the server stops.
var errStopping = errors.New("relay: the server is stopping")

// Read gives the library what has been checked.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.pending) == 0 {
		if err := w.advance(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.pending)
	w.pending = w.pending[n:]
	return n, nil
}

// advance finds what comes next. The library has answered all that it was
// given before.
func (w *wire) advance() error {
	if w.closing || w.buffers == nil {
		return io.EOF
	}
	w.in.Discard(w.taken)
	w.taken = 0
	if w.mode == chunk {
		return w.nextChunk()
	}
	return w.nextCommand()
}

// fill waits for the client, which is told first what it has not heard yet:
// replies to commands that came together go together.
func (w *wire) fill(patience time.Duration) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.stopping && w.mode == commands {
		w.mu.Unlock()
		return errStopping
	}
	w.idle = w.mode == commands
	w.Conn.SetReadDeadline(time.Now().Add(patience))
	w.mu.Unlock()
	_, err := w.in.Peek(w.in.Buffered() + 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = false
	w.eof = w.eof || errors.Is(err, io.EOF)
	if w.stopping && errors.Is(err, os.ErrDeadlineExceeded) {
		return errStopping
	}
	return err
}

// stop has an idle client sent away, and one that is busy when it is through.
func (w *wire) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopping = true
	if w.idle {
		w.Conn.SetReadDeadline(time.Now())
	}
}

// nextCommand finds one command line.
func (w *wire) nextCommand() error {
	for {
		buf, _ := w.in.Peek(w.in.Buffered())
		i := bytes.IndexByte(buf, '\n')
		if i < 0 && len(buf) > maxCommand || i > maxCommand {
			return w.dismiss("500 5.5.2 The line is too long.")
		}
		if i >= 0 {
			return w.command(buf[:i+1])
		}
		switch err := w.fill(idleTime); {
		case errors.Is(err, errStopping):
			return w.dismiss("421 4.3.2 The server is stopping; try again in a moment.")
		case err != nil:
			return err // the library says goodbye where that is possible
		}
	}
}

// command judges a line and gives it to the library.
func (w *wire) command(line []byte) error {
	text, proper := bytes.CutSuffix(line, []byte("\r\n"))
	if !proper || bytes.IndexByte(text, '\r') >= 0 {
		return w.dismiss("500 5.5.2 There is a bare carriage return or line feed; lines end in CRLF.")
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return w.dismiss("500 5.5.2 There is a NUL byte in the line.")
	}
	w.taken = len(line)
	if w.code.Load() != 334 { // else it is an answer of AUTH, whatever it looks like
		command := string(text)
		verb := strings.ToUpper(command[:min(len(command), 16)]) // as the library does: ſ is an S to it
		switch {
		case strings.HasPrefix(verb, "STARTTLS") && w.server.o.TLS != nil:
			return w.startTLS(command)
		case strings.HasPrefix(verb, "EHLO"), strings.HasPrefix(verb, "HELO"):
			w.extended = verb[0] == 'E'
		}
		if size, ok := chunkSize(command); ok {
			if w.rest = size; size > 0 {
				w.mode = chunk
			}
		}
	}
	w.pending = line
	return nil
}

// chunkSize is the size of the chunk behind a BDAT command, where the library
// reads one.
func chunkSize(command string) (int64, bool) {
	if len(command) < 6 || command[4] != ' ' || strings.ToUpper(command[:4]) != "BDAT" {
		return 0, false
	}
	args := strings.Fields(command[5:])
	if len(args) == 0 || len(args) > 2 || len(args) == 2 && !strings.EqualFold(args[1], "LAST") {
		return 0, false
	}
	size, err := strconv.ParseUint(args[0], 10, 32)
	return int64(size), err == nil
}

// inText tells whether a message comes next, behind DATA.
func (w *wire) inText() bool { return w.code.Load() == 354 }

// message gives a message that comes behind DATA, the dots undoubled, and
// returns when it has ended for everybody: at CRLF . CRLF. What cannot be
// written to is an error of the end too.
func (w *wire) message(to io.Writer) (err error) {
	w.in.Discard(w.taken) // the command
	w.mode, w.taken = text, 0
	w.code.Store(0)
	defer func() { w.mode, w.pending = commands, []byte(".\r\n") }()
	var d dotted
	for {
		buf, _ := w.in.Peek(w.in.Buffered())
		place := d.place()
		piece, read, ended, bad := d.next(buf)
		if bad != nil {
			w.skip(place)
			return bad
		}
		if err == nil && len(piece) > 0 {
			_, err = to.Write(piece)
		}
		w.in.Discard(read)
		switch {
		case ended:
			return err
		case read == 0:
			if w.fill(idleTime) != nil {
				w.closing = true
				return errCutOff
			}
		}
	}
}

// skip reads to where a message that is wrong ends, from a place in it. A client
// that falls silent before is sent away: it may think that it has said
// everything.
func (w *wire) skip(end ending) {
	for end != ended {
		buf, _ := w.in.Peek(w.in.Buffered())
		w.in.Discard(end.find(buf))
		if end != ended && w.fill(w.server.silence) != nil {
			w.closing = true
			return
		}
	}
}

// nextChunk checks what there is of a chunk. The library counts its bytes, so
// all of them go on, and the message is refused at its end. An end of the client
// must not look like one of the chunk, which the library does not look after.
func (w *wire) nextChunk() error {
	for w.in.Buffered() == 0 {
		if w.fill(idleTime) != nil {
			w.closing = true
			return errCutOff
		}
	}
	w.pending, _ = w.in.Peek(int(min(w.rest, int64(w.in.Buffered()))))
	w.taken = len(w.pending)
	if w.bad == nil {
		w.bad = w.lines.check(w.pending)
	}
	if w.rest -= int64(w.taken); w.rest == 0 {
		w.mode = commands
	}
	return nil
}

// fresh begins a message that may come in chunks.
func (w *wire) fresh() { w.lines, w.bad = lines{}, nil }

// verdict is what is wrong with the chunks that were read, nil for nothing, and
// whether they end in the middle of a line.
func (w *wire) verdict() (bad *smtp.SMTPError, open bool) {
	if w.bad == nil {
		w.bad = w.lines.end()
	}
	return w.bad, w.lines.open()
}
