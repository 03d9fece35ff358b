package hook

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

const (
	// firstRead is what a body may take without asking: most are smaller.
	firstRead = 16 << 10
	// bodyTime is how long a sender may take to send a body; the platform
	// itself gives up after 10 s.
	bodyTime = 30 * time.Second
	// freeTime and leastPace hold a sender to a pace that any line has; a body
	// under 16 KiB cannot fail by them before freeTime.
	freeTime  = 5 * time.Second
	leastPace = 16 << 10 // bytes a second
)

// body is what was read of a webhook.
type body struct {
	bytes   []byte
	first   *[firstRead]byte // where bytes begin; nil after release
	held    int64            // of the memory that free gives back; 0 up to firstRead
	free    func(n int64)
	control *http.ResponseController
	begun   time.Time

	// of a stranger's, held by its mutex
	address string
	pace    pace
	dropped bool
}

var firsts = sync.Pool{New: func() any { return new([firstRead]byte) }}

// release gives back the memory, bytes included. Twice is once.
func (b *body) release() {
	if b.first == nil {
		return
	}
	if b.held > 0 {
		b.free(b.held)
	}
	firsts.Put(b.first)
	b.disown()
}

// disown leaves the memory to a copy of b.
func (b *body) disown() { b.bytes, b.first, b.held = nil, nil, 0 }

// read reads a body of at most MaxWebhook bytes as a stranger's, into the
// signature too. It holds no more memory than what has been read.
func (rc *Receiver) read(w http.ResponseWriter, r *http.Request, s *signature) (*body, error) {
	if r.ContentLength > MaxWebhook {
		return nil, tooLarge()
	}
	b := &body{
		first: firsts.Get().(*[firstRead]byte), control: http.NewResponseController(w),
		begun: time.Now(), address: network(rest.ClientAddr(r.Context())),
	}
	b.bytes = b.first[:0]
	rc.strangers.enter(b)
	err := rc.readFrom(r.Body, b, s)
	if rc.strangers.leave(b) && err != nil {
		err = errTooSlow()
	}
	if err != nil {
		b.release()
		return nil, err
	}
	_ = b.control.SetReadDeadline(time.Time{}) // else it would end the wait for the commit
	return b, nil
}

func (rc *Receiver) readFrom(r io.Reader, b *body, s *signature) error {
	for {
		n, err := r.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		_, _ = s.Write(b.bytes[len(b.bytes) : len(b.bytes)+n])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > MaxWebhook:
			return tooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return bodyError(err)
		}
		grown := int64(0)
		if len(b.bytes) == cap(b.bytes) {
			grown = min(2*int64(cap(b.bytes)), MaxWebhook+1)
		}
		if err := rc.strangers.received(b, n, grown); err != nil {
			return err
		}
		if grown > 0 {
			b.bytes = append(make([]byte, 0, grown), b.bytes...)
		}
	}
}

// await sets when the next part must be there.
func (b *body) await() {
	allowed := freeTime + time.Duration(len(b.bytes))*time.Second/leastPace
	_ = b.control.SetReadDeadline(b.begun.Add(min(allowed, bodyTime))) // recorders in tests have none
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "A webhook body may have at most 10 MiB.")
}

func errTooSlow() error {
	return rest.ErrTimeout("The body did not arrive in time; send it again, faster.")
}

func bodyError(err error) error {
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow()
	}
	return fault.Wrap(err, fault.Invalid, "The body ended early.")
}
