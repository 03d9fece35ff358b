package hook

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// firstRead is what a body may take without asking: most are smaller.
const firstRead = 16 << 10

// body is what was read of a webhook.
type body struct {
	bytes   []byte
	first   *[firstRead]byte // where bytes begin; nil after release
	held    int64            // of the memory that free gives back; 0 up to firstRead
	free    func(n int64)
	control http.ResponseController

	// of an unverified one, held by its mutex
	address string
	pace    pace
	dropped bool
}

var firsts = sync.Pool{New: func() any { return new([firstRead]byte) }}

// release returns the memory, bytes included. Calling it again does nothing.
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

// read reads a body of at most maxWebhook bytes as an unverified one. It holds no
// more memory than what has been read. That it keeps the pace is held by
// rest.Server.
func (rc *Receiver) read(w http.ResponseWriter, r *http.Request) (*body, error) {
	if r.ContentLength > maxWebhook {
		return nil, tooLarge()
	}
	b := &body{
		first: firsts.Get().(*[firstRead]byte), control: *http.NewResponseController(w),
		address: rest.Network(rest.ClientAddr(r.Context())),
	}
	b.bytes = b.first[:0]
	rc.unverified.enter(b)
	err := rc.readFrom(r.Body, b)
	if rc.unverified.leave(b) && err != nil {
		err = errDropped()
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (rc *Receiver) readFrom(r io.Reader, b *body) error {
	for {
		n, err := r.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > maxWebhook:
			return tooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return bodyError(err)
		}
		grown := int64(0)
		if len(b.bytes) == cap(b.bytes) {
			grown = min(2*int64(cap(b.bytes)), maxWebhook+1)
		}
		if err := rc.unverified.received(b, n, grown); err != nil {
			return err
		}
		if grown > 0 {
			b.bytes = append(make([]byte, 0, grown), b.bytes...)
		}
	}
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "A webhook body may have at most 10 MiB.")
}

// errDropped is for a body that had to make room.
func errDropped() error {
	return rest.ErrTimeout("The memory for webhooks is used up, and this body was the slowest to arrive; send it again.")
}

func bodyError(err error) error {
	var limit *http.MaxBytesError
	var known *fault.Error // it did not keep the pace
	switch {
	case errors.As(err, &limit):
		return tooLarge()
	case errors.As(err, &known):
		return err
	}
	return fault.Wrap(err, fault.Invalid, "The body ended early. Send the webhook again.")
}
