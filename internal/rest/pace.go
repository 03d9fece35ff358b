package rest

import (
	"io"
	"net/http"
	"sync"
	"time"

	"outrigger/internal/fault"
)

// pace is how fast a request body must come in.
type pace struct {
	whole time.Duration // for all of it
	grace time.Duration // how long it may be behind the rate, at the beginning and later
	rate  int64         // bytes a second
}

// bodyPace holds for every path and method of the server.
var bodyPace = pace{
	whole: 30 * time.Second, // platforms themselves give up after 10 to 20 s
	grace: 5 * time.Second,  // a lost packet and a slow handshake
	rate:  16 << 10,         // a tenth of the slowest line that reaches a server
}

// minCheck keeps a body that is close to its limit from being looked at
// without a pause.
const minCheck = 10 * time.Millisecond

// BeginUpload lets the body of r take as long as it keeps the pace of 16 KiB a
// second. Call it before reading, for users who have signed in: everything else
// must arrive within 30 s.
func BeginUpload(r *http.Request) {
	if b, ok := r.Body.(*pacedBody); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.until = time.Time{}
	}
}

// tooSlow is the error of a body that does not keep the pace: 408 by REST, an
// invalid form for the console.
func tooSlow() error {
	const text = "The body came too slowly; send at least 16 KiB a second, and all of it within 30 seconds."
	return fault.Wrap(&httpError{http.StatusRequestTimeout, text}, fault.Invalid, text)
}

// pacedBody ends a body that comes too slowly: Read answers tooSlow. Time that
// the handler takes between two reads does not count against the rate, since
// the client may be waiting for it.
type pacedBody struct {
	io.ReadCloser
	pace     pace
	deadline http.ResponseController
	conn     *conn // nil without a Listener

	mu      sync.Mutex
	timer   *time.Timer
	until   time.Time     // when all of it must be here; zero: whenever
	credit  time.Duration // how long the next read may wait
	reading time.Time     // when the present read began; zero: there is none
	unread  bool          // no read has begun, and the connection has a deadline
	late    bool          // it was ended
	ended   bool          // it was read to its end, or the handler has returned
}

func newPacedBody(w http.ResponseWriter, r *http.Request, c *conn, p pace) *pacedBody {
	b := &pacedBody{
		ReadCloser: r.Body, pace: p, deadline: *http.NewResponseController(w), conn: c,
		until: time.Now().Add(p.whole), credit: p.grace,
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.ProtoMajor == 1 { // net/http reads what a handler left before it answers
		b.unread = true
		_ = b.deadline.SetReadDeadline(time.Now().Add(p.grace))
	}
	b.timer = time.AfterFunc(p.grace, b.check)
	return b
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	b.reading = time.Now()
	if b.unread && !b.late {
		b.unread = false
		_ = b.deadline.SetReadDeadline(time.Time{})
	}
	b.mu.Unlock()

	n, err := b.ReadCloser.Read(p)

	b.mu.Lock()
	defer b.mu.Unlock()
	earned := time.Duration(n) * time.Second / time.Duration(b.pace.rate)
	b.credit = min(b.pace.grace, b.credit-time.Since(b.reading)+earned)
	b.reading = time.Time{}
	switch {
	case err == io.EOF && !b.ended:
		b.ended = true
		b.timer.Stop()
		b.conn.begin()
	case err != nil && b.late:
		err = tooSlow()
	}
	return n, err
}

// check ends the body if it is late, and else looks again when it may be. The
// credit falls by a second a second at most, so that it never looks too late.
func (b *pacedBody) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	left := b.credit
	behind := false
	if !b.reading.IsZero() {
		left -= time.Since(b.reading)
		behind = left <= 0
	}
	if !b.until.IsZero() {
		rest := time.Until(b.until)
		behind = behind || rest <= 0
		left = min(left, rest)
	}
	if !behind {
		b.timer.Reset(max(left, minCheck))
		return
	}
	b.late = true
	_ = b.deadline.SetReadDeadline(time.Unix(1, 0)) // recorders in tests have none
}

// handled is for when the handler has returned. net/http then reads what it
// left, so as to use the connection again; where the answer closes the
// connection, that is done here.
func (b *pacedBody) handled(w http.ResponseWriter, r *http.Request) {
	if b.end() && r.ProtoMajor == 1 && w.Header().Get("Connection") == "close" && r.Header.Get("Expect") == "" {
		b.linger()
	}
}

// end reports whether something may be left of the body.
func (b *pacedBody) end() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		b.conn.end()
		return false
	}
	b.ended = true
	b.timer.Stop()
	if !b.late && !b.unread {
		_ = b.deadline.SetReadDeadline(time.Now().Add(b.pace.grace))
	}
	return !b.late
}

// maxLinger is what is read of a body after the answer: more than any body that
// is taken from who has not signed in, and a client's bug.
const maxLinger = 16 << 20

// linger sends the answer and reads on for a while, no longer than the grace:
// the answer would be lost to a client that writes to its end before it reads,
// if the connection were closed on what it writes.
func (b *pacedBody) linger() {
	_ = b.deadline.Flush() // recorders in tests have none
	_ = b.deadline.SetReadDeadline(time.Now().Add(b.pace.grace))
	_, _ = io.CopyN(io.Discard, b.ReadCloser, maxLinger) // whatever ends it
}
