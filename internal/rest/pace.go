package rest

import (
	"errors"
	"io"
	"net/http"
	"os"
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

	mu     sync.Mutex
	until  time.Time     // when all of it must be here; zero: whenever
	credit time.Duration // how long the next read may wait
	unread bool          // no read has begun, and the connection has a deadline
	late   bool          // it was ended
	ended  bool          // it was read to its end, or the handler has returned
}

func newPacedBody(w http.ResponseWriter, r *http.Request, c *conn, p pace) *pacedBody {
	b := &pacedBody{
		ReadCloser: r.Body, pace: p, deadline: *http.NewResponseController(w), conn: c,
		until: time.Now().Add(p.whole), credit: p.grace,
	}
	if r.ProtoMajor == 1 { // net/http reads what a handler left before it answers
		b.unread = true
		_ = b.deadline.SetReadDeadline(time.Now().Add(p.grace))
	}
	return b
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	began := time.Now()
	due := began.Add(b.credit)
	if !b.until.IsZero() && b.until.Before(due) {
		due = b.until
	}
	if !b.ended && !b.late {
		b.unread = false
		_ = b.deadline.SetReadDeadline(due) // recorders in tests have none
	}
	b.mu.Unlock()

	n, err := b.ReadCloser.Read(p)

	b.mu.Lock()
	defer b.mu.Unlock()
	earned := time.Duration(n) * time.Second / time.Duration(b.pace.rate)
	b.credit = min(b.pace.grace, b.credit-time.Since(began)+earned)
	switch {
	case err == io.EOF && !b.ended:
		b.ended = true
		_ = b.deadline.SetReadDeadline(time.Time{})
		b.conn.begin()
	case errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(due): // else the handler ended it
		b.late = true
		err = tooSlow()
	}
	return n, err
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
